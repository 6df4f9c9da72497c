-- The whole present schema. A new file is made by the migrations; a test proves that they
-- arrive here. Every table is clustered by tenant and owner, so that what belongs to one scope lies
-- together; blocks have an index instead, as SQLite reads a long row whole to compare its key.
-- Instants are microseconds since 1970, UTC.

CREATE TABLE store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    fingerprint BLOB NOT NULL,
    sealed INTEGER NOT NULL,
    anchored INTEGER NOT NULL
) STRICT;

CREATE TABLE models (
    slot INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    UNIQUE (name, version, dimensions)
) STRICT;

CREATE TABLE owners (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('scope', 'user', 'project', 'organisation')),
    user_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    space_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    incarnation BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    label BLOB,
    audit_number INTEGER NOT NULL DEFAULT 0,
    audit_digest BLOB NOT NULL DEFAULT x'',
    content BLOB,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no),
    UNIQUE (tenant_id, type, user_id, agent_id, space_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE records (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('active', 'superseded', 'archived', 'forgotten')),
    text TEXT NOT NULL,
    field TEXT,
    field_key TEXT,
    value TEXT,
    source_id TEXT NOT NULL,
    path TEXT NOT NULL,
    payload_digest BLOB NOT NULL,
    authority INTEGER NOT NULL,
    actor TEXT NOT NULL,
    approved_by TEXT,
    evidence TEXT NOT NULL,
    reference TEXT,
    follows TEXT,
    created_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_until INTEGER,
    expires_at INTEGER,
    metadata TEXT NOT NULL,
    supersedes TEXT,
    superseded_by TEXT,
    superseded_at INTEGER,
    embedding TEXT NOT NULL CHECK (embedding IN ('ready', 'pending', 'none')),
    changed_version INTEGER NOT NULL,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX records_by_id ON records (tenant_id, memory_id);
CREATE UNIQUE INDEX records_by_source ON records (tenant_id, owner_no, source_id);
CREATE INDEX records_by_change ON records (tenant_id, owner_no, changed_version);
CREATE UNIQUE INDEX records_one_active ON records (tenant_id, owner_no, kind, field_key)
    WHERE status = 'active' AND field_key IS NOT NULL;
CREATE INDEX records_by_expiry ON records (expires_at)
    WHERE expires_at IS NOT NULL AND status IN ('active', 'superseded');
CREATE INDEX records_hidden ON records (tenant_id, owner_no, seq) WHERE status = 'forgotten';
CREATE INDEX records_inferred ON records (tenant_id, owner_no, seq) WHERE path = 'propose';

CREATE INDEX records_by_follows ON records (tenant_id, owner_no, follows)
    WHERE follows IS NOT NULL;

CREATE TABLE words (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    words BLOB NOT NULL,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no, seq) REFERENCES records (tenant_id, owner_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE vectors (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    slot INTEGER NOT NULL REFERENCES models (slot),
    vector BLOB NOT NULL,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, seq, slot),
    FOREIGN KEY (tenant_id, owner_no, seq) REFERENCES records (tenant_id, owner_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    considered INTEGER NOT NULL,
    shown INTEGER NOT NULL,
    shown_at INTEGER NOT NULL,
    cited INTEGER NOT NULL,
    corrected INTEGER NOT NULL,
    helpful INTEGER NOT NULL,
    unhelpful INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no, seq) REFERENCES records (tenant_id, owner_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE blocks (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    mac BLOB,
    content BLOB NOT NULL,
    PRIMARY KEY (tenant_id, owner_no, slot, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT;

CREATE TABLE removals (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, owner_no, version, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE tombstones (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    source_digest BLOB NOT NULL,
    value_digest BLOB NOT NULL,
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, memory_id, reason, value_digest),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;

CREATE INDEX tombstones_by_source ON tombstones (tenant_id, owner_no, source_digest);
CREATE INDEX tombstones_by_value ON tombstones (tenant_id, owner_no, value_digest);

CREATE TABLE candidates (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    candidate_id TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'lapsed')),
    version INTEGER NOT NULL,
    statement TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    source_id TEXT NOT NULL,
    payload_digest BLOB NOT NULL,
    path TEXT NOT NULL,
    authority INTEGER NOT NULL,
    actor TEXT NOT NULL,
    evidence TEXT NOT NULL,
    findings TEXT NOT NULL,
    contested TEXT,
    created_at INTEGER NOT NULL,
    decided_at INTEGER,
    decided_by TEXT,
    reason TEXT,
    memory_id TEXT,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX candidates_by_id ON candidates (tenant_id, candidate_id);
CREATE UNIQUE INDEX candidates_by_source ON candidates (tenant_id, owner_no, source_id);
CREATE INDEX candidates_pending ON candidates (tenant_id, owner_no, contested)
    WHERE status = 'pending';

CREATE TABLE threads (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    last_number INTEGER NOT NULL,
    content BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    expires_at INTEGER,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX threads_by_name ON threads (tenant_id, owner_no, type, name);
CREATE INDEX threads_by_expiry ON threads (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE entries (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    sort TEXT NOT NULL CHECK (sort IN (
        'event', 'checkpoint', 'write', 'step', 'effect', 'summary', 'item')),
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    folder TEXT NOT NULL,
    label BLOB NOT NULL,
    content BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    idle INTEGER,
    expires_at INTEGER,
    ends_at INTEGER,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no, thread) REFERENCES threads (tenant_id, owner_no, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX entries_by_name ON entries (tenant_id, owner_no, thread, sort, name);
CREATE INDEX entries_by_number ON entries (tenant_id, owner_no, thread, sort, number);
CREATE INDEX entries_by_folder ON entries (tenant_id, owner_no, thread, sort, folder);
CREATE INDEX entries_by_end ON entries (ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX entries_summaries ON entries (tenant_id, owner_no, seq) WHERE sort = 'summary';

CREATE TABLE audit (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    memory_ids TEXT NOT NULL,
    reason TEXT,
    digest BLOB NOT NULL,
    PRIMARY KEY (tenant_id, owner_no, number),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE imported_audit (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    place INTEGER NOT NULL,
    chain TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    memory_ids TEXT NOT NULL,
    reason TEXT,
    digest BLOB NOT NULL,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, place),
    UNIQUE (tenant_id, owner_no, chain, number),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE imported_receipts (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    receipt_id TEXT NOT NULL,
    content TEXT NOT NULL,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, receipt_id),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE deletions (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    deletion_id TEXT NOT NULL,
    target TEXT NOT NULL,
    subject TEXT NOT NULL,
    whole INTEGER NOT NULL,
    incarnation BLOB NOT NULL,
    actor TEXT NOT NULL,
    remains TEXT NOT NULL,
    state TEXT NOT NULL
        CHECK (state IN ('hidden', 'derived', 'shredded', 'compacted', 'verified')),
    steps TEXT NOT NULL,
    surfaces TEXT NOT NULL,
    waiting TEXT,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, deletion_id),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
) STRICT, WITHOUT ROWID;

CREATE INDEX deletions_by_id ON deletions (tenant_id, deletion_id);
CREATE INDEX deletions_open ON deletions (tenant_id, deletion_id) WHERE state <> 'verified';

CREATE TABLE deletion_items (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    deletion_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    memory_id TEXT,
    mac BLOB,
    PRIMARY KEY (tenant_id, owner_no, deletion_id, seq),
    FOREIGN KEY (tenant_id, owner_no, deletion_id)
        REFERENCES deletions (tenant_id, owner_no, deletion_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
    tenant_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    owner_no INTEGER NOT NULL,
    receipt_id TEXT NOT NULL,
    content TEXT NOT NULL,
    digest TEXT NOT NULL,
    mac BLOB,
    PRIMARY KEY (tenant_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX receipts_by_id ON receipts (tenant_id, receipt_id, number);
CREATE INDEX receipts_by_owner ON receipts (tenant_id, owner_no, number);
