-- Statements that every database runs, each with a name and one sentence. INDEXED BY is a hint to
-- SQLite alone; it is left out elsewhere.

-- name: mark
-- What the store says of its key.
SELECT fingerprint, sealed, anchored FROM store;

-- name: insert_mark
-- Say of a new store which key it has.
INSERT INTO store (one, fingerprint, sealed, anchored) VALUES (1, :fingerprint, :sealed, :anchored);

-- name: mark_anchored
-- Say that the store has an anchor from now on.
UPDATE store SET anchored = 1;

-- name: owner
-- One scope by its exact parts.
SELECT * FROM owners
WHERE tenant_id = :tenant_id AND type = :type AND user_id = :user_id AND agent_id = :agent_id
    AND space_id = :space_id;

-- name: owners
-- Every owner, for maintenance.
SELECT tenant_id, type, user_id, agent_id, space_id, owner_no, version, incarnation,
       label
FROM owners
ORDER BY tenant_id, owner_no;

-- name: slot
-- The number of a model.
SELECT slot FROM models WHERE name = :name AND version = :version AND dimensions = :dimensions;

-- name: insert_slot
-- Number a new model.
INSERT INTO models (slot, name, version, dimensions)
SELECT coalesce(max(slot), 0) + 1, :name, :version, :dimensions FROM models
RETURNING slot;

-- name: active_rows
-- What a segment needs of every active record of a scope.
SELECT r.seq, r.kind, r.valid_from, r.valid_until, r.expires_at, w.words, v.vector, f.seq
FROM records AS r
JOIN words AS w USING (tenant_id, owner_no, seq)
LEFT JOIN vectors AS v
    ON v.tenant_id = r.tenant_id AND v.owner_no = r.owner_no AND v.seq = r.seq AND v.slot = :slot
LEFT JOIN records AS f
    ON f.tenant_id = r.tenant_id AND f.memory_id = r.follows AND f.owner_no = r.owner_no
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.status = 'active'
ORDER BY r.seq;

-- name: changed_rows
-- What a segment needs of the active records of a scope that changed after a version.
SELECT r.seq, r.kind, r.valid_from, r.valid_until, r.expires_at, w.words, v.vector, f.seq
FROM records AS r INDEXED BY records_by_change
JOIN words AS w USING (tenant_id, owner_no, seq)
LEFT JOIN vectors AS v
    ON v.tenant_id = r.tenant_id AND v.owner_no = r.owner_no AND v.seq = r.seq AND v.slot = :slot
LEFT JOIN records AS f
    ON f.tenant_id = r.tenant_id AND f.memory_id = r.follows AND f.owner_no = r.owner_no
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

-- name: rows_as_of
-- What a segment needs of the records of an owner that were active at a past instant.
SELECT r.seq, r.kind, r.valid_from, r.valid_until, r.expires_at, w.words, v.vector, f.seq
FROM records AS r
JOIN words AS w USING (tenant_id, owner_no, seq)
LEFT JOIN vectors AS v
    ON v.tenant_id = r.tenant_id AND v.owner_no = r.owner_no AND v.seq = r.seq AND v.slot = :slot
LEFT JOIN records AS f
    ON f.tenant_id = r.tenant_id AND f.memory_id = r.follows AND f.owner_no = r.owner_no
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.created_at <= :at
    AND r.status IN ('active', 'superseded')
    AND (r.superseded_at IS NULL OR r.superseded_at > :at)
ORDER BY r.seq;

-- name: superseded_rows
-- What a segment needs of the records of an owner that were superseded by an instant.
SELECT r.seq, r.kind, r.valid_from, r.valid_until, r.expires_at, w.words, v.vector, f.seq
FROM records AS r
JOIN words AS w USING (tenant_id, owner_no, seq)
LEFT JOIN vectors AS v
    ON v.tenant_id = r.tenant_id AND v.owner_no = r.owner_no AND v.seq = r.seq AND v.slot = :slot
LEFT JOIN records AS f
    ON f.tenant_id = r.tenant_id AND f.memory_id = r.follows AND f.owner_no = r.owner_no
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.status = 'superseded'
    AND r.superseded_at <= :at
ORDER BY r.seq;

-- name: record_by_id
-- One record by its id, if it belongs to the scope.
SELECT * FROM records
WHERE tenant_id = :tenant_id AND memory_id = :memory_id AND owner_no = :owner_no
    AND status <> 'forgotten';

-- name: active_field
-- The active record of a single-valued field.
SELECT * FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND kind = :kind AND field_key = :field_key
    AND status = 'active';

-- name: page
-- Records of a scope below a place, newest first.
SELECT * FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq < :before
    AND status <> 'forgotten'
ORDER BY seq DESC LIMIT :limit;

-- name: filed
-- What was written under a source_id.
SELECT memory_id, status, expires_at, payload_digest, embedding FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND source_id = :source_id
    AND status <> 'forgotten';

-- name: insert_record
-- A new record; only an import brings one that was replaced already.
INSERT INTO records (tenant_id, owner_no, seq, memory_id, kind, status, text, field, field_key,
                     value, source_id, path, payload_digest, authority, actor,
                     approved_by, evidence, reference, follows, created_at, valid_from, valid_until, expires_at, metadata, supersedes, superseded_by,
                     superseded_at, embedding, changed_version, mac)
VALUES (:tenant_id, :owner_no, :seq, :memory_id, :kind, :status, :text, :field, :field_key,
        :value, :source_id, :path, :payload_digest, :authority, :actor,
        :approved_by, :evidence, :reference, :follows, :created_at, :valid_from, :valid_until, :expires_at, :metadata, :supersedes,
        :superseded_by, :superseded_at, :embedding, :changed_version, :mac);

-- name: insert_words
-- The packed word list of a record.
INSERT INTO words (tenant_id, owner_no, seq, words, mac)
VALUES (:tenant_id, :owner_no, :seq, :words, :mac);

-- name: insert_vector
-- The vector of a new record by one model.
INSERT INTO vectors (tenant_id, owner_no, seq, slot, vector, mac)
VALUES (:tenant_id, :owner_no, :seq, :slot, :vector, :mac);

-- name: all_blocks
-- Everything of what is packed of an owner.
SELECT * FROM blocks WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY slot, seq;

-- name: packed_version
-- The version at which the words of an owner were packed.
SELECT version FROM blocks WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot = 0;

-- name: vector_blocks
-- Everything of the packed vectors of one model that may belong to a range of records.
SELECT * FROM blocks
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot = :slot AND seq <= :high
    AND seq >= coalesce(
        (SELECT max(b.seq) FROM blocks AS b
         WHERE b.tenant_id = :tenant_id AND b.owner_no = :owner_no AND b.slot = :slot
            AND b.seq <= :low), 0)
ORDER BY seq;

-- name: block_places
-- Where the blocks of the vectors of one model begin.
SELECT seq FROM blocks
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot = :slot
ORDER BY seq;

-- name: slots
-- The numbers of all models.
SELECT slot FROM models ORDER BY slot;

-- name: own_vectors
-- The vectors by one model that active records hold themselves, in order.
SELECT v.seq, v.vector FROM vectors AS v
JOIN records AS r USING (tenant_id, owner_no, seq)
WHERE v.tenant_id = :tenant_id AND v.owner_no = :owner_no AND v.slot = :slot
    AND length(v.vector) > 0 AND r.status = 'active'
ORDER BY v.seq;

-- name: packed_vectors
-- Which records have their vector by one model in a block, and whether they are active.
SELECT v.seq, CASE r.status WHEN 'active' THEN 1 ELSE 0 END FROM vectors AS v
JOIN records AS r USING (tenant_id, owner_no, seq)
WHERE v.tenant_id = :tenant_id AND v.owner_no = :owner_no AND v.slot = :slot
    AND length(v.vector) = 0
ORDER BY v.seq;

-- name: hold_vector
-- Let a record hold its vector itself, or leave it to a block.
UPDATE vectors SET vector = :vector
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq AND slot = :slot
RETURNING *;

-- name: insert_block
-- What is packed of an owner.
INSERT INTO blocks (tenant_id, owner_no, slot, seq, version, content, mac)
VALUES (:tenant_id, :owner_no, :slot, :seq, :version, :content, :mac);

-- name: delete_blocks
-- Remove the packed words of an owner.
DELETE FROM blocks WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot = 0
RETURNING *;

-- name: delete_block
-- Remove one block of an owner.
DELETE FROM blocks
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot = :slot AND seq = :seq
RETURNING *;

-- name: stamp_blocks
-- Authenticate a block.
UPDATE blocks SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot = :slot AND seq = :seq;

-- name: put_block
-- Put other content in the place of a block's.
UPDATE blocks SET content = :content
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot = :slot AND seq = :seq
RETURNING *;

-- name: sealed_blocks
-- What of blocks is sealed in a sealed store.
SELECT seq, slot, content FROM blocks
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq BETWEEN :low AND :high;

-- name: count_item_blocks
-- How many blocks were packed before a record of a deletion was hidden or removed.
SELECT count(*) FROM blocks AS b
WHERE b.tenant_id = :tenant_id AND b.owner_no = :owner_no AND b.slot = 0 AND (
    EXISTS (
        SELECT 1 FROM deletion_items AS i
        JOIN records AS r ON r.tenant_id = i.tenant_id AND r.owner_no = i.owner_no AND r.seq = i.seq
        WHERE i.tenant_id = :tenant_id AND i.owner_no = :owner_no AND i.deletion_id = :deletion_id
            AND i.memory_id IS NOT NULL AND r.changed_version > b.version)
    OR EXISTS (
        SELECT 1 FROM deletion_items AS i
        JOIN removals AS g ON g.tenant_id = i.tenant_id AND g.owner_no = i.owner_no AND g.seq = i.seq
        WHERE i.tenant_id = :tenant_id AND i.owner_no = :owner_no AND i.deletion_id = :deletion_id
            AND i.memory_id IS NOT NULL AND g.version > b.version));

-- name: delete_item_blocks
-- Remove the packed records of an owner that may hold one of a deletion's items within a range.
DELETE FROM blocks
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot = 0 AND EXISTS (
    SELECT 1 FROM deletion_items AS i
    WHERE i.tenant_id = blocks.tenant_id AND i.owner_no = blocks.owner_no
        AND i.deletion_id = :deletion_id AND i.memory_id IS NOT NULL
        AND i.seq BETWEEN :low AND :high)
RETURNING *;

-- name: mark_embedded
-- Say that a record can be found by meaning now.
UPDATE records SET embedding = 'ready', changed_version = :version
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
    AND status IN ('active', 'superseded')
RETURNING *;

-- name: mark_superseded
-- Replace a record: it keeps its text and names its successor.
UPDATE records
SET status = 'superseded', superseded_by = :new_id, superseded_at = :now,
    changed_version = :version
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND memory_id = :old_id
RETURNING *;

-- name: link_older
-- Let a record name the one before it, or none.
UPDATE records SET supersedes = :old_id
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND memory_id = :root_id
RETURNING *;

-- name: mark_active
-- Bring back a record that was replaced.
UPDATE records
SET status = 'active', superseded_by = NULL, superseded_at = NULL, changed_version = :version
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND memory_id = :old_id
    AND status = 'superseded'
RETURNING *;

-- name: usage
-- How each record of an owner was used.
SELECT seq, considered, shown, shown_at, cited, corrected, helpful, unhelpful FROM usage
WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: add_usage
-- Count how a record was used, if it is still there.
INSERT INTO usage (
    tenant_id, owner_no, seq, considered, shown, shown_at, cited, corrected, helpful, unhelpful
)
SELECT r.tenant_id, r.owner_no, r.seq, :considered, :shown, :shown_at, :cited, :corrected,
    :helpful, :unhelpful
FROM records AS r
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.seq = :seq
    AND r.status <> 'forgotten'
ON CONFLICT (tenant_id, owner_no, seq) DO UPDATE
SET considered = usage.considered + excluded.considered,
    shown = usage.shown + excluded.shown,
    cited = usage.cited + excluded.cited,
    corrected = usage.corrected + excluded.corrected,
    helpful = usage.helpful + excluded.helpful,
    unhelpful = usage.unhelpful + excluded.unhelpful,
    shown_at = CASE WHEN excluded.shown_at > usage.shown_at THEN excluded.shown_at
                    ELSE usage.shown_at END;

-- name: delete_usage
-- Remove what is known of a record's use.
DELETE FROM usage WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: delete_item_usage
-- Remove what is known of the use of a deletion's items within a range.
DELETE FROM usage
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high);

-- name: delete_words
-- Remove the word list of a record.
DELETE FROM words WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: delete_vectors
-- Remove the vectors of a record, of every model.
DELETE FROM vectors WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: delete_vector
-- Remove the vector of a record by one model.
DELETE FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq AND slot = :slot
RETURNING *;

-- name: delete_replaced_vectors
-- Remove the vectors of other models where a record has one of the present model.
DELETE FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot <> :slot
    AND EXISTS (
        SELECT 1 FROM vectors AS present
        WHERE present.tenant_id = vectors.tenant_id AND present.owner_no = vectors.owner_no
            AND present.seq = vectors.seq AND present.slot = :slot)
RETURNING *;

-- name: delete_follower_vectors
-- Remove the vectors that saw a record's text in front of their own.
DELETE FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
    SELECT r.seq FROM records AS r
    WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.follows = :memory_id)
RETURNING *;

-- name: unlink_followers
-- Let the records that followed a record stand alone, to be embedded anew.
UPDATE records
SET follows = NULL, changed_version = :version,
    embedding = CASE embedding WHEN 'ready' THEN 'pending' ELSE embedding END
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND follows = :memory_id
RETURNING *;

-- name: delete_record
-- Remove a record.
DELETE FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: log_removal
-- Tell the segments of every process that a record is gone.
INSERT INTO removals (tenant_id, owner_no, version, seq)
VALUES (:tenant_id, :owner_no, :version, :seq);

-- name: insert_tombstone
-- A content-free mark against re-creation.
INSERT INTO tombstones (tenant_id, owner_no, memory_id, source_digest, value_digest, reason,
                        created_at)
VALUES (:tenant_id, :owner_no, :memory_id, :source_digest, :value_digest, :reason, :created_at)
ON CONFLICT DO NOTHING
RETURNING *;

-- name: precedent
-- Whether an owner has anything that may stand before a new statement.
SELECT EXISTS (
           SELECT 1 FROM records
           WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND source_id = :source_id)
    OR EXISTS (
           SELECT 1 FROM candidates
           WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND source_id = :source_id)
    OR EXISTS (
           SELECT 1 FROM tombstones
           WHERE tenant_id = :tenant_id AND owner_no = :owner_no
               AND source_digest = :source_digest)
    OR EXISTS (
           SELECT 1 FROM tombstones
           WHERE tenant_id = :tenant_id AND owner_no = :owner_no
               AND value_digest IN (:value_a, :value_b, :value_c, :value_d, :value_e, :value_f))
    OR EXISTS (
           SELECT 1 FROM records INDEXED BY records_hidden
           WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'forgotten');

-- name: tombstone_by_source
-- Whether a source_id was forgotten.
SELECT reason FROM tombstones
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND source_digest = :source_digest LIMIT 1;

-- name: tombstones_by_value
-- Why a value was buried, each reason once.
SELECT DISTINCT reason FROM tombstones
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND value_digest = :value_digest;

-- name: traces
-- How many rows belong to one record.
SELECT (SELECT count(*) FROM records AS r
        WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.seq = :seq),
       (SELECT count(*) FROM words AS w
        WHERE w.tenant_id = :tenant_id AND w.owner_no = :owner_no AND w.seq = :seq),
       (SELECT count(*) FROM vectors AS v
        WHERE v.tenant_id = :tenant_id AND v.owner_no = :owner_no AND v.seq = :seq);

-- name: facts
-- What filters look at, of every active record of a scope.
SELECT seq, kind, field, value, source_id, actor, created_at, valid_from, valid_until, expires_at,
       metadata
FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'active'
ORDER BY seq;

-- name: counts
-- How many records of each sort a scope has.
SELECT count(*) FILTER (WHERE status = 'active' AND (expires_at IS NULL OR expires_at > :now)),
       count(*) FILTER (
           WHERE status = 'superseded' AND (expires_at IS NULL OR expires_at > :now)),
       count(*) FILTER (WHERE status IN ('active', 'superseded') AND expires_at <= :now),
       count(*) FILTER (WHERE status = 'active' AND embedding = 'pending')
FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: count_tombstones
-- How many tombstones a scope has.
SELECT count(DISTINCT memory_id) FROM tombstones WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: pending
-- Active records without a vector of a model, in order.
SELECT r.seq, r.memory_id, r.text, r.follows FROM records AS r
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.seq > :after
    AND r.status = 'active'
    AND NOT EXISTS (
        SELECT 1 FROM vectors AS v
        WHERE v.tenant_id = r.tenant_id AND v.owner_no = r.owner_no AND v.seq = r.seq
            AND v.slot = :slot)
ORDER BY r.seq LIMIT :limit;

-- name: count_pending
-- How many active records of a scope have no vector of a model.
SELECT count(*) FROM records AS r
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.status = 'active'
    AND NOT EXISTS (
        SELECT 1 FROM vectors AS v
        WHERE v.tenant_id = r.tenant_id AND v.owner_no = r.owner_no AND v.seq = r.seq
            AND v.slot = :slot);

-- name: insert_audit
-- A new link of a scope's audit chain.
INSERT INTO audit (tenant_id, owner_no, number, at, actor, action, memory_ids, reason, digest)
VALUES (:tenant_id, :owner_no, :number, :at, :actor, :action, :memory_ids, :reason, :digest);

-- name: audit_page
-- Audit entries of a scope above a number, oldest first.
SELECT number, at, actor, action, memory_ids, reason, digest FROM audit
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND number > :after
ORDER BY number LIMIT :limit;

-- name: insert_candidate
-- A new pending candidate.
INSERT INTO candidates (tenant_id, owner_no, seq, candidate_id, status, version, statement,
                        content_hash, source_id, payload_digest, path, authority, actor, evidence,
                        findings, contested, created_at)
VALUES (:tenant_id, :owner_no, :seq, :candidate_id, 'pending', :version, :statement, :content_hash,
        :source_id, :payload_digest, :path, :authority, :actor, :evidence, :findings, :contested,
        :created_at)
RETURNING *;

-- name: candidate_by_id
-- One candidate by its id, if it belongs to the owner.
SELECT * FROM candidates
WHERE tenant_id = :tenant_id AND candidate_id = :candidate_id AND owner_no = :owner_no;

-- name: candidate_by_source
-- What was proposed under a source_id.
SELECT candidate_id, payload_digest FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND source_id = :source_id;

-- name: candidate_page
-- Candidates of an owner with a status below a place, newest first.
SELECT * FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = :status AND seq < :before
ORDER BY seq DESC LIMIT :limit;

-- name: conflicts
-- Pending candidates of an owner that contradict an active record, oldest first.
SELECT * FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending'
    AND contested IS NOT NULL
ORDER BY seq;

-- name: contested
-- The records of an owner that a pending candidate contradicts.
SELECT DISTINCT contested FROM candidates INDEXED BY candidates_pending
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending'
    AND contested IS NOT NULL;

-- name: revise_candidate
-- Give a pending candidate new content and so a new version.
UPDATE candidates
SET statement = :statement, content_hash = :content_hash, findings = :findings,
    contested = :contested, actor = :actor, authority = :authority, version = version + 1
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND candidate_id = :candidate_id
    AND status = 'pending'
RETURNING *;

-- name: recontest_candidates
-- Point pending candidates at the record that took the place of the one they contradict.
UPDATE candidates SET contested = :new_id, version = version + 1
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending'
    AND contested = :old_id
RETURNING *;

-- name: decide_candidate
-- End a candidate's review.
UPDATE candidates
SET status = :status, decided_at = :decided_at, decided_by = :decided_by, reason = :reason,
    memory_id = :memory_id
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND candidate_id = :candidate_id
    AND status = 'pending'
RETURNING *;

-- name: lapse_candidates
-- End the review of candidates that nobody decided in time.
UPDATE candidates SET status = 'lapsed', decided_at = :now, reason = 'too old'
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending'
    AND created_at < :before
RETURNING *;

-- name: owners_of_user
-- Every scope of one user and the space that the user's agents share.
SELECT tenant_id, type, user_id, agent_id, space_id, owner_no, version, incarnation,
       label
FROM owners
WHERE tenant_id = :tenant_id
    AND ((type = 'scope' AND user_id = :user_id) OR (type = 'user' AND space_id = :user_id))
ORDER BY type, agent_id;

-- name: archived_records
-- Records of an owner above a place, oldest first, each with the time it was replaced.
SELECT * FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq > :after
    AND status <> 'forgotten'
ORDER BY seq LIMIT :limit;

-- name: archived_candidates
-- Candidates of an owner above a place, oldest first, whatever their status.
SELECT * FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq > :after
ORDER BY seq LIMIT :limit;

-- name: tombstone_page
-- Tombstones of an owner in the order of their key, above one of them.
SELECT memory_id, source_digest, value_digest, reason, created_at FROM tombstones
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND (memory_id, reason, value_digest) > (:memory_id, :reason, :value_digest)
ORDER BY memory_id, reason, value_digest LIMIT :limit;

-- name: tombstone_by_key
-- Whether an owner has a tombstone.
SELECT 1 FROM tombstones
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND memory_id = :memory_id
    AND reason = :reason AND value_digest = :value_digest;

-- name: tombstones_by_id
-- Why a record or candidate was buried.
SELECT reason FROM tombstones
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND memory_id = :memory_id;

-- name: taken_id
-- Whether another owner of the tenant has a record or candidate with an id.
SELECT 1 FROM records
WHERE tenant_id = :tenant_id AND memory_id = :item_id AND owner_no <> :owner_no
UNION ALL
SELECT 1 FROM candidates
WHERE tenant_id = :tenant_id AND candidate_id = :item_id AND owner_no <> :owner_no;

-- name: imported_audit_page
-- Audit entries of other stores in the order in which they were brought in.
SELECT * FROM imported_audit
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND place > :after
ORDER BY place LIMIT :limit;

-- name: insert_imported_audit
-- Keep an audit entry of another store, once.
INSERT INTO imported_audit (tenant_id, owner_no, place, chain, number, at, actor, action,
                            memory_ids, reason, digest)
SELECT :tenant_id, :owner_no, coalesce(max(place), 0) + 1, :chain, :number, :at, :actor, :action,
       :memory_ids, :reason, :digest
FROM imported_audit WHERE tenant_id = :tenant_id AND owner_no = :owner_no
ON CONFLICT (tenant_id, owner_no, chain, number) DO NOTHING
RETURNING *;

-- name: next_seq_of
-- The place that the next row of a scope will get.
SELECT last_seq + 1 FROM owners WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: whole_owner
-- Everything of an owner's own row.
SELECT * FROM owners WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: whole_owners
-- Every owner's own row.
SELECT * FROM owners ORDER BY tenant_id, owner_no;

-- name: whole_record
-- Everything of a record's row.
SELECT * FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: whole_record_by_id
-- Everything of a record's row, by its id.
SELECT * FROM records
WHERE tenant_id = :tenant_id AND memory_id = :old_id AND owner_no = :owner_no;

-- name: whole_candidate_by_id
-- Everything of a candidate's row, by its id.
SELECT * FROM candidates
WHERE tenant_id = :tenant_id AND candidate_id = :candidate_id AND owner_no = :owner_no;

-- name: pending_about
-- Everything of the pending candidates that contradict a record.
SELECT * FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending'
    AND contested = :old_id;

-- name: pending_before
-- Everything of the pending candidates made before an instant.
SELECT * FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending'
    AND created_at < :before;

-- name: all_records
-- Everything of every record of an owner.
SELECT * FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY seq;

-- name: all_words
-- Everything of every word list of an owner.
SELECT * FROM words WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY seq;

-- name: all_vectors
-- Everything of every vector of an owner.
SELECT * FROM vectors WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY seq, slot;

-- name: all_candidates
-- Everything of every candidate of an owner.
SELECT * FROM candidates WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY seq;

-- name: all_tombstones
-- Everything of every tombstone of an owner.
SELECT * FROM tombstones WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: stamp_owner
-- Store an owner's version, last place and audit head, and authenticate its row and its content.
UPDATE owners
SET version = :version, last_seq = :last_seq, audit_number = :audit_number,
    audit_digest = :audit_digest, content = :content, mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: stamp_records
-- Authenticate a record's row.
UPDATE records SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: stamp_words
-- Authenticate a word list.
UPDATE words SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: stamp_vectors
-- Authenticate a vector.
UPDATE vectors SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq AND slot = :slot;

-- name: stamp_candidates
-- Authenticate a candidate's row.
UPDATE candidates SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: stamp_tombstones
-- Authenticate a tombstone.
UPDATE tombstones SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND memory_id = :memory_id
    AND reason = :reason AND value_digest = :value_digest;

-- name: label_owner
-- Keep the sealed parts of an owner.
UPDATE owners SET label = :label WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: reseal_record
-- Put another ciphertext of a record's text and labels in place.
UPDATE records SET text = :text, metadata = :metadata
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: reseal_words
-- Put another ciphertext of a word list in place.
UPDATE words SET words = :words
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: reseal_candidate
-- Put another ciphertext of a candidate in place.
UPDATE candidates SET statement = :statement, reason = :reason
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: renew_owner
-- Change what no cached segment of an erased owner can have.
UPDATE owners SET incarnation = :incarnation
WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: hidden
-- Whether an owner has records whose deletion is under way, and one of them a source_id.
SELECT EXISTS (
           SELECT 1 FROM records INDEXED BY records_hidden
           WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'forgotten'),
       EXISTS (
           SELECT 1 FROM records
           WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND source_id = :source_id
               AND status = 'forgotten');

-- name: delete_old_tombstones
-- Remove the tombstones of forgotten and expired records that were kept long enough.
DELETE FROM tombstones
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND created_at < :before
    AND reason IN ('forgotten', 'expired')
RETURNING *;

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

-- name: archive_record
-- Take an expired record out of every read and keep it for exports.
UPDATE records SET status = 'archived', changed_version = :version
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq AND status IN ('active', 'superseded')
RETURNING *;

-- name: insert_deletion
-- A new deletion of what is one owner's.
INSERT INTO deletions (tenant_id, owner_no, deletion_id, target, subject, whole, incarnation, actor,
                       remains, state, steps, surfaces, waiting)
VALUES (:tenant_id, :owner_no, :deletion_id, :target, :subject, :whole, :incarnation, :actor,
        :remains, :state, :steps, :surfaces, :waiting)
RETURNING *;

-- name: update_deletion
-- How far a deletion has come.
UPDATE deletions SET state = :state, steps = :steps, surfaces = :surfaces, waiting = :waiting
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
RETURNING *;

-- name: deletion
-- Every owner's part of one deletion.
SELECT *
FROM deletions
WHERE tenant_id = :tenant_id AND deletion_id = :deletion_id
ORDER BY owner_no;

-- name: deletion_state
-- How far one owner's part of a deletion has come.
SELECT state FROM deletions
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id;

-- name: open_deletions
-- Every owner's part of every deletion that has something to do, oldest first.
SELECT *
FROM deletions
WHERE (tenant_id, deletion_id) IN (
    SELECT tenant_id, deletion_id FROM deletions INDEXED BY deletions_open
    WHERE state <> 'verified')
ORDER BY deletion_id, tenant_id, owner_no;

-- name: note_record
-- Make a record an item of a deletion.
INSERT INTO deletion_items (tenant_id, owner_no, deletion_id, seq, memory_id)
SELECT tenant_id, owner_no, :deletion_id, seq, memory_id FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq AND status <> 'forgotten'
ON CONFLICT DO NOTHING
RETURNING *;

-- name: note_every_record
-- Make every record of an owner an item of a deletion.
INSERT INTO deletion_items (tenant_id, owner_no, deletion_id, seq, memory_id)
SELECT tenant_id, owner_no, :deletion_id, seq, memory_id FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status <> 'forgotten'
RETURNING *;

-- name: note_candidate
-- Make a candidate an item of a deletion.
INSERT INTO deletion_items (tenant_id, owner_no, deletion_id, seq)
VALUES (:tenant_id, :owner_no, :deletion_id, :seq)
ON CONFLICT DO NOTHING
RETURNING *;

-- name: item_page
-- The records of a deletion above a place, in order.
SELECT seq, memory_id FROM deletion_items
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id AND memory_id IS NOT NULL AND seq > :after
ORDER BY seq LIMIT :limit;

-- name: hide_items
-- Take the records of a deletion within a range out of every read.
UPDATE records SET status = 'forgotten', changed_version = :version
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
RETURNING *;

-- name: release_candidates
-- Pending candidates no longer contradict the records of a deletion.
UPDATE candidates SET contested = NULL, version = version + 1
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending' AND contested IN (
        SELECT memory_id FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND memory_id IS NOT NULL)
RETURNING *;

-- name: doomed
-- Hidden records of a deletion that still have to be erased, in order.
SELECT r.seq FROM records AS r INDEXED BY records_hidden
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.status = 'forgotten'
    AND EXISTS (
        SELECT 1 FROM deletion_items AS i
        WHERE i.tenant_id = r.tenant_id AND i.owner_no = r.owner_no
            AND i.deletion_id = :deletion_id AND i.seq = r.seq)
ORDER BY r.seq LIMIT :limit;

-- name: log_item_removals
-- Tell the segments of every process that records of a deletion are gone.
INSERT INTO removals (tenant_id, owner_no, version, seq)
SELECT tenant_id, owner_no, :version, seq FROM deletion_items
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
    AND memory_id IS NOT NULL AND seq BETWEEN :low AND :high
ON CONFLICT DO NOTHING;

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

-- name: delete_deletion_items
-- Drop the items of a finished deletion.
DELETE FROM deletion_items
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
RETURNING *;

-- name: receipt_head
-- The last receipt of a tenant.
SELECT number, digest FROM receipts WHERE tenant_id = :tenant_id ORDER BY number DESC LIMIT 1;

-- name: insert_receipt
-- A new link of a tenant's chain of receipts.
INSERT INTO receipts (tenant_id, number, owner_no, receipt_id, content, digest)
VALUES (:tenant_id, :number, :owner_no, :receipt_id, :content, :digest)
RETURNING *;

-- name: receipt
-- The newest state of one receipt.
SELECT * FROM receipts
WHERE tenant_id = :tenant_id AND receipt_id = :receipt_id
ORDER BY number DESC LIMIT 1;

-- name: receipt_by_number
-- One link of a tenant's chain of receipts.
SELECT * FROM receipts WHERE tenant_id = :tenant_id AND number = :number;

-- name: tenant_receipts
-- The newest state of every receipt of a tenant, newest first.
SELECT * FROM receipts
WHERE tenant_id = :tenant_id AND number IN (
    SELECT max(number) FROM receipts WHERE tenant_id = :tenant_id GROUP BY receipt_id)
ORDER BY number DESC LIMIT :limit;

-- name: owner_receipts
-- The newest state of every receipt of one owner alone, newest first.
SELECT * FROM receipts
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND number IN (
    SELECT max(number) FROM receipts WHERE tenant_id = :tenant_id AND owner_no = :owner_no GROUP BY receipt_id)
ORDER BY number DESC LIMIT :limit;

-- name: count_item_vectors
-- How many vectors of a deletion's items there are.
SELECT count(*) FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id);

-- name: delete_item_vectors
-- Remove the vectors of a deletion's items within a range.
DELETE FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
RETURNING *;

-- name: count_item_words
-- How many word lists of a deletion's items there are.
SELECT count(*) FROM words
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id);

-- name: delete_item_words
-- Remove the word lists of a deletion's items within a range.
DELETE FROM words
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
RETURNING *;

-- name: count_item_candidates
-- How many candidates of a deletion's items there are.
SELECT count(*) FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id);

-- name: delete_item_candidates
-- Remove the candidates of a deletion's items within a range.
DELETE FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
RETURNING *;

-- name: count_item_records
-- How many records of a deletion's items there are.
SELECT count(*) FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id);

-- name: delete_item_records
-- Remove the records of a deletion's items within a range.
DELETE FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
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

-- name: count_audit
-- How many audit entries an owner has.
SELECT count(*) FROM audit WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: imported_receipt_page
-- Receipts of other stores by id, above one of them.
SELECT * FROM imported_receipts
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND receipt_id > :after
ORDER BY receipt_id LIMIT :limit;

-- name: insert_imported_receipt
-- Keep a receipt of another store, once.
INSERT INTO imported_receipts (tenant_id, owner_no, receipt_id, content)
VALUES (:tenant_id, :owner_no, :receipt_id, :content)
ON CONFLICT (tenant_id, owner_no, receipt_id) DO NOTHING
RETURNING *;

-- name: sealed_records
-- What of records is sealed in a sealed store.
SELECT seq, 0, text, metadata FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq BETWEEN :low AND :high;

-- name: sealed_words
-- What of word lists is sealed in a sealed store.
SELECT seq, 0, words FROM words
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq BETWEEN :low AND :high;

-- name: sealed_vectors
-- What of vectors is sealed in a sealed store.
SELECT seq, slot, vector FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq BETWEEN :low AND :high
    AND length(vector) > 0;

-- name: sealed_candidates
-- What of candidates is sealed in a sealed store.
SELECT seq, 0, statement, reason FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq BETWEEN :low AND :high;

-- name: thread_by_name
-- Everything of one thread by its type and name.
SELECT * FROM threads
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND type = :type AND name = :name;

-- name: thread_by_seq
-- Everything of one thread by its place.
SELECT * FROM threads WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: threads_of_type
-- Everything of the threads of one type.
SELECT * FROM threads
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND type = :type
ORDER BY seq;

-- name: all_imported_audit
-- Every audit entry of other stores that an owner has.
SELECT * FROM imported_audit WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY place;

-- name: all_imported_receipts
-- Every receipt of other stores that an owner has.
SELECT * FROM imported_receipts WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY receipt_id;

-- name: all_deletions
-- Everything of every deletion of an owner.
SELECT * FROM deletions WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY deletion_id;

-- name: all_deletion_items
-- Every item of every deletion of an owner.
SELECT * FROM deletion_items WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY deletion_id, seq;

-- name: all_receipts
-- Every link of the chain of receipts that is an owner's.
SELECT * FROM receipts WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY number;

-- name: all_threads
-- Everything of every thread of an owner.
SELECT * FROM threads WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY seq;

-- name: insert_thread
-- A new thread.
INSERT INTO threads (tenant_id, owner_no, seq, type, name, version, last_number, content,
                     created_at, changed_at, expires_at)
VALUES (:tenant_id, :owner_no, :seq, :type, :name, :version, :last_number, :content,
        :created_at, :changed_at, :expires_at)
RETURNING *;

-- name: update_thread
-- What changes of a thread.
UPDATE threads SET version = :version, last_number = :last_number, content = :content,
                   changed_at = :changed_at, expires_at = :expires_at
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: entry_by_name
-- Everything of one entry by its name within a thread.
SELECT * FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND thread = :thread AND sort = :sort
    AND name = :name;

-- name: entries_after
-- Entries of a thread numbered above a number, in order.
SELECT * FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND thread = :thread AND sort = :sort
    AND number > :after
ORDER BY number, seq LIMIT :limit;

-- name: entries_before
-- Entries of a thread numbered below a number, the last first.
SELECT * FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND thread = :thread AND sort = :sort
    AND number < :before
ORDER BY number DESC, seq DESC LIMIT :limit;

-- name: entries_in_folder
-- Entries of one folder of a thread, in order of writing.
SELECT * FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND thread = :thread AND sort = :sort
    AND folder = :folder
ORDER BY seq;

-- name: entries_of_sort
-- Entries of one sort of a thread, in order of writing.
SELECT * FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND thread = :thread AND sort = :sort
ORDER BY seq;

-- name: entry_by_seq
-- Everything of one entry by its place.
SELECT * FROM entries WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: all_summaries
-- Every summary of an owner, in order of writing.
SELECT * FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND sort = 'summary'
ORDER BY seq;

-- name: all_entries
-- Everything of every entry of an owner.
SELECT * FROM entries WHERE tenant_id = :tenant_id AND owner_no = :owner_no ORDER BY seq;

-- name: archived_threads
-- Threads of an owner above a place, in order of writing.
SELECT * FROM threads
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq > :after
ORDER BY seq LIMIT :limit;

-- name: archived_entries
-- Entries of an owner above a place, in order of writing.
SELECT * FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq > :after
ORDER BY seq LIMIT :limit;

-- name: insert_entry
-- A new entry of a thread.
INSERT INTO entries (tenant_id, owner_no, seq, thread, sort, number, name, folder, label, content,
                     created_at, changed_at, idle, expires_at, ends_at)
VALUES (:tenant_id, :owner_no, :seq, :thread, :sort, :number, :name, :folder, :label, :content,
        :created_at, :changed_at, :idle, :expires_at, :ends_at)
RETURNING *;

-- name: update_entry
-- What changes of an entry.
UPDATE entries SET label = :label, content = :content, changed_at = :changed_at, idle = :idle,
                   expires_at = :expires_at, ends_at = :ends_at
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: touch_entry
-- Let an entry live longer.
UPDATE entries SET ends_at = :ends_at
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: delete_entry
-- Remove one entry.
DELETE FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: ended_rows
-- Entries and threads of any owner whose time is over, those first that ended first.
SELECT tenant_id, owner_no, seq, ends_at, 0 FROM entries
WHERE ends_at IS NOT NULL AND ends_at <= :now
UNION ALL
SELECT tenant_id, owner_no, seq, expires_at, 1 FROM threads
WHERE expires_at IS NOT NULL AND expires_at <= :now
ORDER BY 4 LIMIT :limit;

-- name: count_threads
-- How many threads a scope has, and how many entries.
SELECT (SELECT count(*) FROM threads WHERE tenant_id = :tenant_id AND owner_no = :owner_no),
       (SELECT count(*) FROM entries WHERE tenant_id = :tenant_id AND owner_no = :owner_no);

-- name: stamp_imported_audit
-- Authenticate an audit entry of another store.
UPDATE imported_audit SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND place = :place;

-- name: stamp_imported_receipts
-- Authenticate a receipt of another store.
UPDATE imported_receipts SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND receipt_id = :receipt_id;

-- name: stamp_deletions
-- Authenticate an owner's part of a deletion.
UPDATE deletions SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id;

-- name: stamp_deletion_items
-- Authenticate an item of a deletion.
UPDATE deletion_items SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id AND seq = :seq;

-- name: stamp_receipts
-- Authenticate a link of a tenant's chain of receipts.
UPDATE receipts SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND number = :number;

-- name: stamp_threads
-- Authenticate a thread's row.
UPDATE threads SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: stamp_entries
-- Authenticate an entry's row.
UPDATE entries SET mac = :mac
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: sealed_threads
-- What of threads is sealed in a sealed store.
SELECT seq, 0, content FROM threads
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq BETWEEN :low AND :high;

-- name: sealed_entries
-- What of entries is sealed in a sealed store.
SELECT seq, 0, label, content FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq BETWEEN :low AND :high;

-- name: reseal_thread
-- Put another ciphertext of a thread in place.
UPDATE threads SET content = :content
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: reseal_entry
-- Put another ciphertext of an entry in place.
UPDATE entries SET label = :label, content = :content
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING *;

-- name: note_thread
-- Make a thread an item of a deletion.
INSERT INTO deletion_items (tenant_id, owner_no, deletion_id, seq)
SELECT tenant_id, owner_no, :deletion_id, seq FROM threads
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
ON CONFLICT DO NOTHING
RETURNING *;

-- name: note_thread_entries
-- Make the entries of a thread items of a deletion.
INSERT INTO deletion_items (tenant_id, owner_no, deletion_id, seq)
SELECT tenant_id, owner_no, :deletion_id, seq FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND thread = :seq
ON CONFLICT DO NOTHING
RETURNING *;

-- name: note_every_thread
-- Make every thread of an owner an item of a deletion.
INSERT INTO deletion_items (tenant_id, owner_no, deletion_id, seq)
SELECT tenant_id, owner_no, :deletion_id, seq FROM threads
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
ON CONFLICT DO NOTHING
RETURNING *;

-- name: note_every_entry
-- Make every entry of an owner an item of a deletion.
INSERT INTO deletion_items (tenant_id, owner_no, deletion_id, seq)
SELECT tenant_id, owner_no, :deletion_id, seq FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
ON CONFLICT DO NOTHING
RETURNING *;

-- name: count_item_threads
-- How many threads of a deletion's items there are.
SELECT count(*) FROM threads
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id);

-- name: delete_item_threads
-- Remove the threads of a deletion's items within a range.
DELETE FROM threads
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
RETURNING *;

-- name: count_item_events
-- How many events of a deletion's items there are.
SELECT count(*) FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND sort = 'event'
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id);

-- name: delete_item_events
-- Remove the events of a deletion's items within a range.
DELETE FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND sort = 'event'
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
RETURNING *;

-- name: count_item_checkpoints
-- How many checkpoints and their steps and writes of a deletion's items there are.
SELECT count(*) FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND sort IN ('checkpoint', 'write', 'step', 'effect')
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id);

-- name: delete_item_checkpoints
-- Remove the checkpoints and their steps and writes of a deletion's items within a range.
DELETE FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND sort IN ('checkpoint', 'write', 'step', 'effect')
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
RETURNING *;

-- name: count_item_summaries
-- How many summaries of a deletion's items there are.
SELECT count(*) FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND sort = 'summary'
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id);

-- name: delete_item_summaries
-- Remove the summaries of a deletion's items within a range.
DELETE FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND sort = 'summary'
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
RETURNING *;

-- name: count_item_items
-- How many items of a deletion's items there are.
SELECT count(*) FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND sort = 'item'
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id);

-- name: delete_item_items
-- Remove the items of a deletion's items within a range.
DELETE FROM entries
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
    AND sort = 'item'
    AND seq IN (
        SELECT seq FROM deletion_items
        WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND deletion_id = :deletion_id
            AND seq BETWEEN :low AND :high)
RETURNING *;
