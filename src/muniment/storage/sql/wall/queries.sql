-- Statements that only PostgreSQL's sessions run: locks of rows, and what is asked when a store opens.

-- name: fix
-- Nothing but the moment that a snapshot shows.
SELECT 1;

-- name: lock_owner
-- Let no other transaction write to an owner until this one ends.
SELECT 1 FROM owners WHERE tenant_id = :tenant_id AND owner_no = :owner_no FOR UPDATE;

-- name: owner
-- A scope's own row, by its exact parts, which no other transaction may write until this one ends.
SELECT * FROM owners
WHERE tenant_id = :tenant_id AND type = :type AND user_id = :user_id AND agent_id = :agent_id
    AND space_id = :space_id
FOR UPDATE;

-- name: lock_tenant
-- Let no other transaction add to a tenant's receipts until this one ends.
SELECT 1 FROM tenants WHERE tenant_id = :tenant_id FOR UPDATE;

-- name: role
-- What the present role is: its name, and whether no policy would hold for it.
SELECT current_user::text, rolsuper OR rolbypassrls FROM pg_catalog.pg_roles
WHERE rolname = current_user;

-- name: walls
-- For each table: whether its wall is up for everybody, has its policy, and is not this role's own.
SELECT c.relname::text, c.relrowsecurity AND c.relforcerowsecurity,
       (SELECT count(*) = 1 FROM pg_catalog.pg_policy AS p
        WHERE p.polrelid = c.oid AND p.polname = 'reach' AND p.polpermissive
            AND p.polcmd = '*' AND p.polroles = '{0}'
            AND NOT EXISTS (
                SELECT 1 FROM pg_catalog.pg_policy AS other
                WHERE other.polrelid = c.oid AND other.oid <> p.oid AND other.polpermissive)),
       pg_has_role(current_user, c.relowner, 'MEMBER')
FROM pg_catalog.pg_class AS c
WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
ORDER BY c.relname;

-- name: schema_table
-- Whether the database holds a store.
SELECT to_regclass('schema_version') IS NOT NULL;

-- name: schema_version
-- The schema's number, and the least number of a muniment that may still use it.
SELECT version, oldest_reader FROM schema_version;

-- name: lock_schema
-- Let nobody else change the schema until this transaction ends.
LOCK TABLE schema_version IN ACCESS EXCLUSIVE MODE;

-- name: set_version
-- Say which schema this is.
INSERT INTO schema_version (one, version, oldest_reader) VALUES (1, :version, :oldest_reader)
ON CONFLICT (one) DO UPDATE
SET version = excluded.version, oldest_reader = excluded.oldest_reader;

-- name: app_role
-- Whether the role that applications serve with exists.
SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = 'muniment_app';

-- name: server_facts
-- The server's version and the size of the database in bytes.
SELECT current_setting('server_version'), pg_database_size(current_database());

-- name: may_compact
-- Whether this role may rewrite a table.
SELECT current_setting('server_version_num')::bigint >= 170000
    AND has_table_privilege('records', 'MAINTAIN');

-- name: present_transaction
-- A number above those of all transactions that have committed.
SELECT CAST(CAST(pg_catalog.pg_current_xact_id() AS xid) AS text);

-- name: holders
-- Whether anything may still see a row that was deleted before a transaction, or let others see it.
SELECT EXISTS (
    SELECT 1 FROM pg_catalog.pg_stat_activity
    WHERE pid <> pg_catalog.pg_backend_pid()
        AND (datname = current_database() OR datname IS NULL)
        AND age(backend_xmin) > age(CAST(:now AS xid))
        AND pid NOT IN (SELECT pid FROM pg_catalog.pg_stat_progress_vacuum)
    UNION ALL
    SELECT 1 FROM pg_catalog.pg_stat_activity WHERE age(backend_xid) > age(CAST(:now AS xid))
    UNION ALL
    SELECT 1 FROM pg_catalog.pg_replication_slots WHERE age(xmin) > age(CAST(:now AS xid))
    UNION ALL
    SELECT 1 FROM pg_catalog.pg_prepared_xacts WHERE age(transaction) > age(CAST(:now AS xid))
);

-- name: identity
-- What only physical copies of this database share: the cluster's number and the database's.
SELECT system_identifier,
       (SELECT oid::bigint FROM pg_catalog.pg_database WHERE datname = current_database())
FROM pg_catalog.pg_control_system();

-- name: written_to
-- How far the server's log is written, as a number of bytes; None on a replica.
SELECT CASE WHEN pg_is_in_recovery() THEN NULL
            ELSE pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint END;

-- name: replayed_to
-- How far a replica has replayed the log, as a number of bytes; None on a server that is none.
SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint WHERE pg_is_in_recovery();
