-- Statements in SQLite's own words; every other database has one under each of these names.

-- name: any_table
-- Whether the file holds a table of anybody's; as the first read it also fixes what a snapshot sees.
SELECT 1 FROM sqlite_schema LIMIT 1;

-- name: changed_rows
-- What a segment needs of the active records of a scope that changed after a version.
SELECT r.seq, r.kind, r.valid_from, r.valid_until, r.expires_at, w.words, v.vector
FROM records AS r INDEXED BY records_by_change
JOIN words AS w USING (tenant_id, owner_no, seq)
LEFT JOIN vectors AS v
    ON v.tenant_id = r.tenant_id AND v.owner_no = r.owner_no AND v.seq = r.seq AND v.slot = :slot
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.changed_version > :since
    AND r.status = 'active'
ORDER BY r.seq;

-- name: gone_rows
-- The records of a scope that left the active ones after a version.
SELECT seq FROM records INDEXED BY records_by_change
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND changed_version > :since
    AND status <> 'active'
UNION ALL
SELECT seq FROM removals
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND version > :since;

-- name: contested
-- The records of an owner that a pending candidate contradicts.
SELECT DISTINCT contested FROM candidates INDEXED BY candidates_pending
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending'
    AND contested IS NOT NULL;

-- name: columns
-- The columns of a table, in order.
SELECT name FROM pragma_table_info(:table);

-- name: whole_records
-- Everything of the rows of records by their places in the scope, given as a JSON array.
SELECT * FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND seq IN (SELECT value FROM json_each(:seqs));

-- name: hidden
-- Whether an owner has records whose deletion is under way, and one of them a source_id.
SELECT EXISTS (
           SELECT 1 FROM records INDEXED BY records_hidden
           WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'forgotten'),
       EXISTS (
           SELECT 1 FROM records
           WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND source_id = :source_id
               AND status = 'forgotten');

-- name: inferred
-- The records of an owner that came out of a proposal.
SELECT seq FROM records INDEXED BY records_inferred
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND path = 'propose' AND status <> 'forgotten'
ORDER BY seq;

-- name: expired
-- Records past their expiry that no sweep has seen, those first that expired first.
SELECT tenant_id, owner_no, seq, kind FROM records INDEXED BY records_by_expiry
WHERE expires_at IS NOT NULL AND status IN ('active', 'superseded') AND expires_at <= :now
ORDER BY expires_at LIMIT :limit;

-- name: open_deletions
-- Every owner's part of every deletion that has something to do, oldest first.
SELECT *
FROM deletions
WHERE (tenant_id, deletion_id) IN (
    SELECT tenant_id, deletion_id FROM deletions INDEXED BY deletions_open
    WHERE state <> 'verified')
ORDER BY deletion_id, tenant_id, owner_no;

-- name: doomed
-- Hidden records of a deletion that still have to be erased, in order.
SELECT r.seq FROM records AS r INDEXED BY records_hidden
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.status = 'forgotten'
    AND EXISTS (
        SELECT 1 FROM deletion_items AS i
        WHERE i.tenant_id = r.tenant_id AND i.owner_no = r.owner_no
            AND i.deletion_id = :deletion_id AND i.seq = r.seq)
ORDER BY r.seq LIMIT :limit;

-- name: unlink_item_followers
-- Records that followed one of a deletion stand alone, and wait for a vector of their own text.
UPDATE records INDEXED BY records_by_follows
SET follows = NULL, changed_version = :version,
    embedding = CASE embedding WHEN 'ready' THEN 'pending' ELSE embedding END
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status <> 'forgotten'
    AND follows IS NOT NULL AND follows IN (
        SELECT memory_id FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND memory_id IS NOT NULL AND seq BETWEEN :low AND :high)
RETURNING *;

-- name: count_item_contexts
-- How many vectors of other records saw a record of a deletion.
SELECT count(*) FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND seq IN (
        SELECT seq FROM records INDEXED BY records_by_follows
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status <> 'forgotten'
            AND follows IS NOT NULL AND follows IN (
            SELECT memory_id FROM deletion_items
            WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
                AND memory_id IS NOT NULL));

-- name: delete_item_contexts
-- Remove the vectors of other records that saw a record of a deletion within a range.
DELETE FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND seq IN (
        SELECT seq FROM records INDEXED BY records_by_follows
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status <> 'forgotten'
            AND follows IS NOT NULL AND follows IN (
            SELECT memory_id FROM deletion_items
            WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
                AND memory_id IS NOT NULL AND seq BETWEEN :low AND :high))
RETURNING *;
