-- Every statement that runs on SQLite, each with a name and one sentence.

-- name: any_table
-- Whether the file holds a table of anybody's; as the first read it also fixes what a snapshot sees.
SELECT 1 FROM sqlite_schema LIMIT 1;

-- name: master_key
-- The store's own random key.
SELECT master_key FROM store;

-- name: insert_master_key
-- Keep the key of a new store.
INSERT INTO store (one, master_key) VALUES (1, :master_key);

-- name: owner
-- One scope by its exact parts.
SELECT owner_no, version, incarnation FROM owners
WHERE tenant_id = :tenant_id AND type = :type AND user_id = :user_id AND agent_id = :agent_id
    AND space_id = :space_id;

-- name: owners
-- Every owner, for maintenance.
SELECT tenant_id, type, user_id, agent_id, space_id, owner_no, version, incarnation FROM owners
ORDER BY tenant_id, owner_no;

-- name: insert_owner
-- A new scope, with the next free number of its tenant.
INSERT INTO owners (tenant_id, owner_no, type, user_id, agent_id, space_id, version, last_seq,
                    incarnation, created_at)
SELECT :tenant_id, coalesce(max(owner_no), 0) + 1, :type, :user_id, :agent_id, :space_id, 0, 0,
       :incarnation, :created_at
FROM owners WHERE tenant_id = :tenant_id;

-- name: bump
-- Move a scope to its next version.
UPDATE owners SET version = version + 1
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
RETURNING version;

-- name: next_seq
-- Take the next place in a scope's order of writing.
UPDATE owners SET last_seq = last_seq + 1
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
RETURNING last_seq;

-- name: slot
-- The number of a model.
SELECT slot FROM models WHERE name = :name AND version = :version AND dimensions = :dimensions;

-- name: insert_slot
-- Number a new model.
INSERT INTO models (name, version, dimensions) VALUES (:name, :version, :dimensions)
RETURNING slot;

-- name: active_rows
-- What a segment needs of every active record of a scope.
SELECT r.seq, r.kind, r.valid_from, r.valid_until, r.expires_at, w.words, v.vector
FROM records AS r
JOIN words AS w USING (tenant_id, owner_no, seq)
LEFT JOIN vectors AS v
    ON v.tenant_id = r.tenant_id AND v.owner_no = r.owner_no AND v.seq = r.seq AND v.slot = :slot
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.status = 'active'
ORDER BY r.seq;

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

-- name: rows_as_of
-- What a segment needs of the records of an owner that were active at a past instant.
SELECT r.seq, r.kind, r.valid_from, r.valid_until, r.expires_at, w.words, v.vector
FROM records AS r
JOIN words AS w USING (tenant_id, owner_no, seq)
LEFT JOIN vectors AS v
    ON v.tenant_id = r.tenant_id AND v.owner_no = r.owner_no AND v.seq = r.seq AND v.slot = :slot
WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.created_at <= :at
    AND (r.superseded_at IS NULL OR r.superseded_at > :at)
ORDER BY r.seq;

-- name: record_by_seq
-- One record by its place in the scope.
SELECT memory_id, seq, kind, status, text, field, value, source_id, path, authority, actor,
       approved_by, evidence, reference, follows, created_at, valid_from, valid_until, expires_at, metadata, supersedes, superseded_by,
       embedding
FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: record_by_id
-- One record by its id, if it belongs to the scope.
SELECT memory_id, seq, kind, status, text, field, value, source_id, path, authority, actor,
       approved_by, evidence, reference, follows, created_at, valid_from, valid_until, expires_at, metadata, supersedes, superseded_by,
       embedding
FROM records WHERE tenant_id = :tenant_id AND memory_id = :memory_id AND owner_no = :owner_no;

-- name: active_field
-- The active record of a single-valued field.
SELECT memory_id, seq, kind, status, text, field, value, source_id, path, authority, actor,
       approved_by, evidence, reference, follows, created_at, valid_from, valid_until, expires_at, metadata, supersedes, superseded_by,
       embedding
FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND kind = :kind AND field_key = :field_key
    AND status = 'active';

-- name: page
-- Records of a scope below a place, newest first.
SELECT memory_id, seq, kind, status, text, field, value, source_id, path, authority, actor,
       approved_by, evidence, reference, follows, created_at, valid_from, valid_until, expires_at, metadata, supersedes, superseded_by,
       embedding
FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq < :before
ORDER BY seq DESC LIMIT :limit;

-- name: filed
-- What was written under a source_id.
SELECT memory_id, status, expires_at, payload_digest, embedding FROM records
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND source_id = :source_id;

-- name: insert_record
-- A new active record.
INSERT INTO records (tenant_id, owner_no, seq, memory_id, kind, status, text, field, field_key,
                     value, source_id, path, payload_digest, authority, actor,
                     approved_by, evidence, reference, follows, created_at, valid_from, valid_until, expires_at, metadata, supersedes, embedding,
                     changed_version)
VALUES (:tenant_id, :owner_no, :seq, :memory_id, :kind, 'active', :text, :field, :field_key,
        :value, :source_id, :path, :payload_digest, :authority, :actor,
        :approved_by, :evidence, :reference, :follows, :created_at, :valid_from, :valid_until, :expires_at, :metadata, :supersedes, :embedding, :version);

-- name: insert_words
-- The packed word list of a record.
INSERT INTO words (tenant_id, owner_no, seq, words) VALUES (:tenant_id, :owner_no, :seq, :words);

-- name: upsert_vector
-- The vector of a record by one model.
INSERT INTO vectors (tenant_id, owner_no, seq, slot, vector)
VALUES (:tenant_id, :owner_no, :seq, :slot, :vector)
ON CONFLICT (tenant_id, owner_no, seq, slot) DO UPDATE SET vector = excluded.vector;

-- name: mark_embedded
-- Say that a record can be found by meaning now.
UPDATE records SET embedding = 'ready', changed_version = :version
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq
RETURNING seq;

-- name: mark_superseded
-- Replace a record: it keeps its text and names its successor.
UPDATE records
SET status = 'superseded', superseded_by = :new_id, superseded_at = :now,
    changed_version = :version
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND memory_id = :old_id;

-- name: delete_words
-- Remove the word list of a record.
DELETE FROM words WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: delete_vectors
-- Remove the vectors of a record, of every model.
DELETE FROM vectors WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: delete_replaced_vectors
-- Remove the vectors of other models where a record has one of the present model.
DELETE FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND slot <> :slot
    AND EXISTS (
        SELECT 1 FROM vectors AS present
        WHERE present.tenant_id = vectors.tenant_id AND present.owner_no = vectors.owner_no
            AND present.seq = vectors.seq AND present.slot = :slot);

-- name: delete_follower_vectors
-- Remove the vectors that saw a record's text in front of their own.
DELETE FROM vectors
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq IN (
    SELECT r.seq FROM records AS r
    WHERE r.tenant_id = :tenant_id AND r.owner_no = :owner_no AND r.follows = :memory_id);

-- name: unlink_followers
-- Let the records that followed a record stand alone, to be embedded anew.
UPDATE records
SET follows = NULL, changed_version = :version,
    embedding = CASE embedding WHEN 'ready' THEN 'pending' ELSE embedding END
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND follows = :memory_id;

-- name: delete_record
-- Remove a record.
DELETE FROM records WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND seq = :seq;

-- name: log_removal
-- Tell the segments of every process that a record is gone.
INSERT INTO removals (tenant_id, owner_no, version, seq)
VALUES (:tenant_id, :owner_no, :version, :seq);

-- name: insert_tombstone
-- A content-free mark against re-creation.
INSERT OR IGNORE INTO tombstones (tenant_id, owner_no, memory_id, source_digest, value_digest, reason,
                        created_at)
VALUES (:tenant_id, :owner_no, :memory_id, :source_digest, :value_digest, :reason, :created_at);

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
SELECT coalesce(sum(status = 'active' AND (expires_at IS NULL OR expires_at > :now)), 0),
       coalesce(sum(status = 'superseded' AND (expires_at IS NULL OR expires_at > :now)), 0),
       coalesce(sum(expires_at <= :now), 0),
       coalesce(sum(status = 'active' AND embedding = 'pending'), 0)
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

-- name: audit_head
-- The last link of a scope's audit chain.
SELECT number, digest FROM audit
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
ORDER BY number DESC LIMIT 1;

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
VALUES (:tenant_id, :owner_no, :seq, :candidate_id, 'pending', 1, :statement, :content_hash,
        :source_id, :payload_digest, :path, :authority, :actor, :evidence, :findings, :contested,
        :created_at);

-- name: candidate_by_id
-- One candidate by its id, if it belongs to the owner.
SELECT candidate_id, seq, status, version, statement, content_hash, path, authority, actor,
       evidence, findings, contested, created_at, decided_at, decided_by, reason, memory_id
FROM candidates
WHERE tenant_id = :tenant_id AND candidate_id = :candidate_id AND owner_no = :owner_no;

-- name: candidate_by_source
-- What was proposed under a source_id.
SELECT candidate_id, payload_digest FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND source_id = :source_id;

-- name: candidate_page
-- Candidates of an owner with a status below a place, newest first.
SELECT candidate_id, seq, status, version, statement, content_hash, path, authority, actor,
       evidence, findings, contested, created_at, decided_at, decided_by, reason, memory_id
FROM candidates
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = :status AND seq < :before
ORDER BY seq DESC LIMIT :limit;

-- name: conflicts
-- Pending candidates of an owner that contradict an active record, oldest first.
SELECT candidate_id, seq, status, version, statement, content_hash, path, authority, actor,
       evidence, findings, contested, created_at, decided_at, decided_by, reason, memory_id
FROM candidates
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
    contested = :contested, actor = :actor, version = version + 1
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND candidate_id = :candidate_id
    AND status = 'pending';

-- name: recontest_candidates
-- Point pending candidates at the record that took the place of the one they contradict.
UPDATE candidates SET contested = :new_id, version = version + 1
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending'
    AND contested = :old_id;

-- name: decide_candidate
-- End a candidate's review.
UPDATE candidates
SET status = :status, decided_at = :decided_at, decided_by = :decided_by, reason = :reason,
    memory_id = :memory_id
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND candidate_id = :candidate_id
    AND status = 'pending';

-- name: lapse_candidates
-- End the review of candidates that nobody decided in time.
UPDATE candidates SET status = 'lapsed', decided_at = :now, reason = 'too old'
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND status = 'pending'
    AND created_at < :before
RETURNING candidate_id;
