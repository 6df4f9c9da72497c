-- Statements in SQLite's own words; every other database has one under each of these names.

-- name: any_table
-- Whether the file holds a table of anybody's; as the first read it also fixes what a snapshot sees.
SELECT 1 FROM sqlite_schema LIMIT 1;

-- name: insert_owner
-- A new scope, with the next free number of its tenant.
INSERT INTO owners (tenant_id, owner_no, type, user_id, agent_id, space_id, version, last_seq,
                    incarnation, created_at)
SELECT :tenant_id, coalesce(max(owner_no), 0) + 1, :type, :user_id, :agent_id, :space_id, 0, 0,
       :incarnation, :created_at
FROM owners WHERE tenant_id = :tenant_id
RETURNING owner_no;

-- name: columns
-- The columns of a table, in order.
SELECT name FROM pragma_table_info(:table);

-- name: whole_records
-- Everything of the rows of records by their places in the scope, given as a JSON array.
SELECT * FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND seq IN (SELECT value FROM json_each(:seqs));

-- name: filed_among
-- Under which of some source_ids, given as a JSON array, an owner has records.
SELECT source_id FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status <> 'forgotten'
    AND source_id IN (SELECT value FROM json_each(:source_ids));

-- name: segment_blocks
-- Of the packed words of an owner and the packed vectors of one model: where, and all but content.
SELECT rowid, length(content), slot > 0, tenant_id, owner_no, slot, seq, version, mac FROM blocks
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot IN (0, :slot)
ORDER BY slot, seq;
