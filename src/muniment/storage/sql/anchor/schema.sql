-- The anchor of a database: the last known state of every owner, outside the file.

CREATE TABLE IF NOT EXISTS anchor (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    content BLOB
) STRICT;

CREATE TABLE IF NOT EXISTS heads (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    incarnation BLOB NOT NULL,
    version INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    audit_number INTEGER NOT NULL,
    audit_digest BLOB NOT NULL,
    state BLOB NOT NULL,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;
