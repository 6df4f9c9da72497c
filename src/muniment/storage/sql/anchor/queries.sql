-- Every statement that runs on an anchor, each with a name and one sentence.

-- name: content
-- The digest of all heads together.
SELECT content FROM anchor;

-- name: insert_content
-- A new anchor without heads.
INSERT INTO anchor (one, content) VALUES (1, NULL) ON CONFLICT DO NOTHING;

-- name: replace_content
-- The digest of all heads together, after a change.
UPDATE anchor SET content = :content;

-- name: heads
-- The last known state of every owner.
SELECT tenant_id, owner_no, incarnation, version, last_seq, audit_number, audit_digest, state, mac
FROM heads ORDER BY tenant_id, owner_no;

-- name: head
-- The last known state of one owner.
SELECT tenant_id, owner_no, incarnation, version, last_seq, audit_number, audit_digest, state, mac
FROM heads WHERE tenant_id = :tenant_id AND owner_no = :owner_no;

-- name: replace_head
-- Note an owner's state, unless a later one is noted already.
INSERT INTO heads (tenant_id, owner_no, incarnation, version, last_seq, audit_number, audit_digest,
                   state, mac)
VALUES (:tenant_id, :owner_no, :incarnation, :version, :last_seq, :audit_number, :audit_digest,
        :state, :mac)
ON CONFLICT (tenant_id, owner_no) DO UPDATE
SET incarnation = excluded.incarnation, version = excluded.version, last_seq = excluded.last_seq,
    audit_number = excluded.audit_number, audit_digest = excluded.audit_digest,
    state = excluded.state, mac = excluded.mac
WHERE excluded.audit_number >= heads.audit_number;
