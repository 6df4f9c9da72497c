-- Statements that carry a tenant's rows from one server to another; {} is a table of the schema.

-- name: digests
-- Number and digest of a tenant's rows, by owner.
SELECT owner_no, count(*), md5(string_agg(md5(t::text), '' ORDER BY md5(t::text)))
FROM {} AS t WHERE tenant_id = :tenant_id GROUP BY owner_no;

-- name: take
-- An owner's rows, each as JSON.
SELECT row_to_json(t)::text FROM {} AS t WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: put
-- Rows that another server gave.
INSERT INTO {0} SELECT * FROM json_populate_recordset(NULL::{0}, :rows::json);

-- name: drop
-- An owner's rows, which are now on another server or are to be copied again.
DELETE FROM {} WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: owners_of
-- The owners of a tenant.
SELECT owner_no FROM owners WHERE tenant_id = :tenant_id;

-- name: last_owner
-- The number that a tenant's newest owner got.
SELECT last_owner FROM tenants WHERE tenant_id = :tenant_id;

-- name: put_last_owner
-- Note the number that a tenant's newest owner got.
INSERT INTO tenants (tenant_id, last_owner) VALUES (:tenant_id, :last_owner)
ON CONFLICT (tenant_id) DO UPDATE SET last_owner = excluded.last_owner;

-- name: drop_last_owner
-- A tenant's own row, which is now on another server.
DELETE FROM tenants WHERE tenant_id = :tenant_id;
