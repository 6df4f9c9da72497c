-- Statements in PostgreSQL's own words; every other database has one under each of these names.

-- name: any_table
-- Whether the database holds a table of anybody's.
SELECT 1 FROM pg_catalog.pg_class
WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace LIMIT 1;

-- name: columns
-- The columns of a table, in order.
SELECT attname::text FROM pg_catalog.pg_attribute
WHERE attrelid = to_regclass(:table) AND attnum > 0 AND NOT attisdropped ORDER BY attnum;

-- name: whole_records
-- Everything of the rows of records by their places in the scope, given as a JSON array.
SELECT * FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND seq = ANY (ARRAY(SELECT jsonb_array_elements_text(:seqs)::bigint));

-- name: insert_owner
-- A new scope, with the next free number of its tenant; others of the tenant wait for it. Nothing
-- when another transaction has made it meanwhile.
WITH next AS (
    INSERT INTO tenants (tenant_id, last_owner)
    SELECT :tenant_id, coalesce(max(owner_no), 0) + 1 FROM owners WHERE tenant_id = :tenant_id
    ON CONFLICT (tenant_id) DO UPDATE SET last_owner = tenants.last_owner + 1
    RETURNING last_owner)
INSERT INTO owners (tenant_id, owner_no, type, user_id, agent_id, space_id, version, last_seq,
                    incarnation, created_at)
SELECT :tenant_id, last_owner, :type, :user_id, :agent_id, :space_id, 0, 0, :incarnation,
       :created_at
FROM next
ON CONFLICT (tenant_id, type, user_id, agent_id, space_id) DO NOTHING
RETURNING owner_no;

-- name: filed_among
-- Under which of some source_ids, given as a JSON array, an owner has records.
SELECT source_id FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status <> 'forgotten'
    AND source_id = ANY (ARRAY(SELECT jsonb_array_elements_text(:source_ids)));

-- name: segment_blocks
-- Everything of the packed words of an owner and of the packed vectors of one model.
SELECT * FROM blocks
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot IN (0, :slot)
ORDER BY slot, seq;
