CREATE TABLE store (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    fingerprint BYTEA NOT NULL,
    sealed BIGINT NOT NULL,
    anchored BIGINT NOT NULL
);

CREATE TABLE models (
    slot BIGINT PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL,
    dimensions BIGINT NOT NULL,
    UNIQUE (name, version, dimensions)
);

CREATE TABLE owners (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    type TEXT COLLATE "C" NOT NULL CHECK (type IN ('scope', 'user', 'project', 'organisation')),
    user_id TEXT COLLATE "C" NOT NULL,
    agent_id TEXT COLLATE "C" NOT NULL,
    space_id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    incarnation BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    label BYTEA,
    audit_number BIGINT NOT NULL DEFAULT 0,
    audit_digest BYTEA NOT NULL DEFAULT '',
    content BYTEA,
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no),
    UNIQUE (tenant_id, type, user_id, agent_id, space_id)
);

CREATE TABLE records (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('active', 'superseded', 'archived', 'forgotten')),
    text TEXT COLLATE "C" NOT NULL,
    field TEXT COLLATE "C",
    field_key TEXT COLLATE "C",
    value TEXT COLLATE "C",
    source_id TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    payload_digest BYTEA NOT NULL,
    authority BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    approved_by TEXT COLLATE "C",
    evidence TEXT COLLATE "C" NOT NULL,
    reference TEXT COLLATE "C",
    follows TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    valid_from BIGINT,
    valid_until BIGINT,
    expires_at BIGINT,
    metadata TEXT COLLATE "C" NOT NULL,
    supersedes TEXT COLLATE "C",
    superseded_by TEXT COLLATE "C",
    superseded_at BIGINT,
    embedding TEXT COLLATE "C" NOT NULL CHECK (embedding IN ('ready', 'pending', 'none')),
    changed_version BIGINT NOT NULL,
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

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
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    words BYTEA NOT NULL,
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no, seq) REFERENCES records (tenant_id, owner_no, seq)
);

CREATE TABLE vectors (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    slot BIGINT NOT NULL REFERENCES models (slot),
    vector BYTEA NOT NULL,
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, seq, slot),
    FOREIGN KEY (tenant_id, owner_no, seq) REFERENCES records (tenant_id, owner_no, seq)
);

CREATE TABLE usage (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    considered BIGINT NOT NULL,
    shown BIGINT NOT NULL,
    shown_at BIGINT NOT NULL,
    cited BIGINT NOT NULL,
    corrected BIGINT NOT NULL,
    helpful BIGINT NOT NULL,
    unhelpful BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no, seq) REFERENCES records (tenant_id, owner_no, seq)
);

CREATE TABLE blocks (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    version BIGINT NOT NULL,
    mac BYTEA,
    content BYTEA NOT NULL,
    PRIMARY KEY (tenant_id, owner_no, slot, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

CREATE TABLE removals (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    version BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, owner_no, version, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

CREATE TABLE tombstones (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    memory_id TEXT COLLATE "C" NOT NULL,
    source_digest BYTEA NOT NULL,
    value_digest BYTEA NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, memory_id, reason, value_digest),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

CREATE INDEX tombstones_by_source ON tombstones (tenant_id, owner_no, source_digest);
CREATE INDEX tombstones_by_value ON tombstones (tenant_id, owner_no, value_digest);

CREATE TABLE candidates (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    candidate_id TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'lapsed')),
    version BIGINT NOT NULL,
    statement TEXT COLLATE "C" NOT NULL,
    content_hash BYTEA NOT NULL,
    source_id TEXT COLLATE "C" NOT NULL,
    payload_digest BYTEA NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    authority BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    evidence TEXT COLLATE "C" NOT NULL,
    findings TEXT COLLATE "C" NOT NULL,
    contested TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT COLLATE "C",
    reason TEXT COLLATE "C",
    memory_id TEXT COLLATE "C",
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

CREATE UNIQUE INDEX candidates_by_id ON candidates (tenant_id, candidate_id);
CREATE UNIQUE INDEX candidates_by_source ON candidates (tenant_id, owner_no, source_id);
CREATE INDEX candidates_pending ON candidates (tenant_id, owner_no, contested)
    WHERE status = 'pending';

CREATE TABLE threads (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    last_number BIGINT NOT NULL,
    content BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    expires_at BIGINT,
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

CREATE UNIQUE INDEX threads_by_name ON threads (tenant_id, owner_no, type, name);
CREATE INDEX threads_by_expiry ON threads (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE entries (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    thread BIGINT NOT NULL,
    sort TEXT COLLATE "C" NOT NULL CHECK (sort IN (
        'event', 'checkpoint', 'write', 'step', 'effect', 'summary', 'item')),
    number BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    folder TEXT COLLATE "C" NOT NULL,
    label BYTEA NOT NULL,
    content BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    idle BIGINT,
    expires_at BIGINT,
    ends_at BIGINT,
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, seq),
    FOREIGN KEY (tenant_id, owner_no, thread) REFERENCES threads (tenant_id, owner_no, seq)
);

CREATE UNIQUE INDEX entries_by_name ON entries (tenant_id, owner_no, thread, sort, name);
CREATE INDEX entries_by_number ON entries (tenant_id, owner_no, thread, sort, number);
CREATE INDEX entries_by_folder ON entries (tenant_id, owner_no, thread, sort, folder);
CREATE INDEX entries_by_end ON entries (ends_at) WHERE ends_at IS NOT NULL;
CREATE INDEX entries_summaries ON entries (tenant_id, owner_no, seq) WHERE sort = 'summary';

CREATE TABLE audit (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    memory_ids TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    digest BYTEA NOT NULL,
    PRIMARY KEY (tenant_id, owner_no, number),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

CREATE TABLE imported_audit (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    place BIGINT NOT NULL,
    chain TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    memory_ids TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C",
    digest BYTEA NOT NULL,
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, place),
    UNIQUE (tenant_id, owner_no, chain, number),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

CREATE TABLE imported_receipts (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    receipt_id TEXT COLLATE "C" NOT NULL,
    content TEXT COLLATE "C" NOT NULL,
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, receipt_id),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

CREATE TABLE deletions (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    deletion_id TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    whole BIGINT NOT NULL,
    incarnation BYTEA NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    remains TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL
        CHECK (state IN ('hidden', 'derived', 'shredded', 'compacted', 'verified')),
    steps TEXT COLLATE "C" NOT NULL,
    surfaces TEXT COLLATE "C" NOT NULL,
    waiting TEXT COLLATE "C",
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, deletion_id),
    FOREIGN KEY (tenant_id, owner_no) REFERENCES owners (tenant_id, owner_no)
);

CREATE INDEX deletions_by_id ON deletions (tenant_id, deletion_id);
CREATE INDEX deletions_open ON deletions (tenant_id, deletion_id) WHERE state <> 'verified';

CREATE TABLE deletion_items (
    tenant_id TEXT COLLATE "C" NOT NULL,
    owner_no BIGINT NOT NULL,
    deletion_id TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    memory_id TEXT COLLATE "C",
    mac BYTEA,
    PRIMARY KEY (tenant_id, owner_no, deletion_id, seq),
    FOREIGN KEY (tenant_id, owner_no, deletion_id)
        REFERENCES deletions (tenant_id, owner_no, deletion_id)
);

CREATE TABLE receipts (
    tenant_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    owner_no BIGINT NOT NULL,
    receipt_id TEXT COLLATE "C" NOT NULL,
    content TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    mac BYTEA,
    PRIMARY KEY (tenant_id, number)
);

CREATE INDEX receipts_by_id ON receipts (tenant_id, receipt_id, number);
CREATE INDEX receipts_by_owner ON receipts (tenant_id, owner_no, number);

CREATE TABLE tenants (
    tenant_id TEXT COLLATE "C" NOT NULL,
    last_owner BIGINT NOT NULL,
    PRIMARY KEY (tenant_id)
);

CREATE TABLE schema_version (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    version BIGINT NOT NULL,
    oldest_reader BIGINT NOT NULL
);

CREATE TABLE shard (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    name TEXT COLLATE "C" NOT NULL,
    map TEXT COLLATE "C" NOT NULL
);

CREATE TABLE residence (
    tenant_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('arriving', 'here', 'leaving', 'gone')),
    mover TEXT COLLATE "C",
    PRIMARY KEY (tenant_id)
);

CREATE TABLE placements (
    tenant_id TEXT COLLATE "C" NOT NULL,
    server TEXT COLLATE "C" NOT NULL,
    target TEXT COLLATE "C",
    PRIMARY KEY (tenant_id)
);

ALTER TABLE store
    ALTER COLUMN fingerprint SET STATISTICS 0;
ALTER TABLE store ENABLE ROW LEVEL SECURITY;
ALTER TABLE store FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON store USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb) IS NOT NULL);
ALTER TABLE store CLUSTER ON store_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON store TO muniment_app;

ALTER TABLE models
    ALTER COLUMN name SET STATISTICS 0,
    ALTER COLUMN version SET STATISTICS 0;
ALTER TABLE models ENABLE ROW LEVEL SECURITY;
ALTER TABLE models FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON models USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb) IS NOT NULL);
ALTER TABLE models CLUSTER ON models_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON models TO muniment_app;

ALTER TABLE owners
    ALTER COLUMN user_id SET STATISTICS 0,
    ALTER COLUMN agent_id SET STATISTICS 0,
    ALTER COLUMN space_id SET STATISTICS 0,
    ALTER COLUMN incarnation SET STATISTICS 0,
    ALTER COLUMN label SET STATISTICS 0,
    ALTER COLUMN audit_digest SET STATISTICS 0,
    ALTER COLUMN content SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE owners ENABLE ROW LEVEL SECURITY;
ALTER TABLE owners FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON owners USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint))
        OR (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'sought') @> jsonb_build_array(jsonb_build_object(
            'type', type, 'user_id', user_id, 'agent_id', agent_id, 'space_id', space_id)))));
ALTER TABLE owners CLUSTER ON owners_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON owners TO muniment_app;

ALTER TABLE records
    ALTER COLUMN memory_id SET STATISTICS 0,
    ALTER COLUMN text SET STATISTICS 0,
    ALTER COLUMN field SET STATISTICS 0,
    ALTER COLUMN field_key SET STATISTICS 0,
    ALTER COLUMN value SET STATISTICS 0,
    ALTER COLUMN source_id SET STATISTICS 0,
    ALTER COLUMN path SET STATISTICS 0,
    ALTER COLUMN payload_digest SET STATISTICS 0,
    ALTER COLUMN actor SET STATISTICS 0,
    ALTER COLUMN approved_by SET STATISTICS 0,
    ALTER COLUMN evidence SET STATISTICS 0,
    ALTER COLUMN reference SET STATISTICS 0,
    ALTER COLUMN follows SET STATISTICS 0,
    ALTER COLUMN metadata SET STATISTICS 0,
    ALTER COLUMN supersedes SET STATISTICS 0,
    ALTER COLUMN superseded_by SET STATISTICS 0,
    ALTER COLUMN embedding SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE records ENABLE ROW LEVEL SECURITY;
ALTER TABLE records FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON records USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE records CLUSTER ON records_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON records TO muniment_app;

ALTER TABLE words
    ALTER COLUMN words SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE words ENABLE ROW LEVEL SECURITY;
ALTER TABLE words FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON words USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE words CLUSTER ON words_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON words TO muniment_app;

ALTER TABLE vectors
    ALTER COLUMN vector SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE vectors FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON vectors USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE vectors CLUSTER ON vectors_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON vectors TO muniment_app;

ALTER TABLE usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE usage FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON usage USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE usage CLUSTER ON usage_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON usage TO muniment_app;

ALTER TABLE blocks
    ALTER COLUMN mac SET STATISTICS 0,
    ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE blocks FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON blocks USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE blocks CLUSTER ON blocks_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON blocks TO muniment_app;

ALTER TABLE removals ENABLE ROW LEVEL SECURITY;
ALTER TABLE removals FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON removals USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE removals CLUSTER ON removals_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON removals TO muniment_app;

ALTER TABLE tombstones
    ALTER COLUMN memory_id SET STATISTICS 0,
    ALTER COLUMN source_digest SET STATISTICS 0,
    ALTER COLUMN value_digest SET STATISTICS 0,
    ALTER COLUMN reason SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE tombstones FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON tombstones USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE tombstones CLUSTER ON tombstones_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON tombstones TO muniment_app;

ALTER TABLE candidates
    ALTER COLUMN candidate_id SET STATISTICS 0,
    ALTER COLUMN statement SET STATISTICS 0,
    ALTER COLUMN content_hash SET STATISTICS 0,
    ALTER COLUMN source_id SET STATISTICS 0,
    ALTER COLUMN payload_digest SET STATISTICS 0,
    ALTER COLUMN path SET STATISTICS 0,
    ALTER COLUMN actor SET STATISTICS 0,
    ALTER COLUMN evidence SET STATISTICS 0,
    ALTER COLUMN findings SET STATISTICS 0,
    ALTER COLUMN contested SET STATISTICS 0,
    ALTER COLUMN decided_by SET STATISTICS 0,
    ALTER COLUMN reason SET STATISTICS 0,
    ALTER COLUMN memory_id SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE candidates ENABLE ROW LEVEL SECURITY;
ALTER TABLE candidates FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON candidates USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE candidates CLUSTER ON candidates_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON candidates TO muniment_app;

ALTER TABLE threads
    ALTER COLUMN name SET STATISTICS 0,
    ALTER COLUMN content SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE threads ENABLE ROW LEVEL SECURITY;
ALTER TABLE threads FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON threads USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE threads CLUSTER ON threads_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON threads TO muniment_app;

ALTER TABLE entries
    ALTER COLUMN sort SET STATISTICS 0,
    ALTER COLUMN name SET STATISTICS 0,
    ALTER COLUMN folder SET STATISTICS 0,
    ALTER COLUMN label SET STATISTICS 0,
    ALTER COLUMN content SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE entries FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON entries USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE entries CLUSTER ON entries_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON entries TO muniment_app;

ALTER TABLE audit
    ALTER COLUMN actor SET STATISTICS 0,
    ALTER COLUMN action SET STATISTICS 0,
    ALTER COLUMN memory_ids SET STATISTICS 0,
    ALTER COLUMN reason SET STATISTICS 0,
    ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON audit USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE audit CLUSTER ON audit_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON audit TO muniment_app;

ALTER TABLE imported_audit
    ALTER COLUMN chain SET STATISTICS 0,
    ALTER COLUMN actor SET STATISTICS 0,
    ALTER COLUMN action SET STATISTICS 0,
    ALTER COLUMN memory_ids SET STATISTICS 0,
    ALTER COLUMN reason SET STATISTICS 0,
    ALTER COLUMN digest SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE imported_audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE imported_audit FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON imported_audit USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE imported_audit CLUSTER ON imported_audit_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON imported_audit TO muniment_app;

ALTER TABLE imported_receipts
    ALTER COLUMN receipt_id SET STATISTICS 0,
    ALTER COLUMN content SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE imported_receipts ENABLE ROW LEVEL SECURITY;
ALTER TABLE imported_receipts FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON imported_receipts USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE imported_receipts CLUSTER ON imported_receipts_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON imported_receipts TO muniment_app;

ALTER TABLE deletions
    ALTER COLUMN deletion_id SET STATISTICS 0,
    ALTER COLUMN target SET STATISTICS 0,
    ALTER COLUMN subject SET STATISTICS 0,
    ALTER COLUMN incarnation SET STATISTICS 0,
    ALTER COLUMN actor SET STATISTICS 0,
    ALTER COLUMN remains SET STATISTICS 0,
    ALTER COLUMN steps SET STATISTICS 0,
    ALTER COLUMN surfaces SET STATISTICS 0,
    ALTER COLUMN waiting SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE deletions ENABLE ROW LEVEL SECURITY;
ALTER TABLE deletions FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON deletions USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE deletions CLUSTER ON deletions_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON deletions TO muniment_app;

ALTER TABLE deletion_items
    ALTER COLUMN deletion_id SET STATISTICS 0,
    ALTER COLUMN memory_id SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE deletion_items ENABLE ROW LEVEL SECURITY;
ALTER TABLE deletion_items FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON deletion_items USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE deletion_items CLUSTER ON deletion_items_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON deletion_items TO muniment_app;

ALTER TABLE receipts
    ALTER COLUMN receipt_id SET STATISTICS 0,
    ALTER COLUMN content SET STATISTICS 0,
    ALTER COLUMN digest SET STATISTICS 0,
    ALTER COLUMN mac SET STATISTICS 0;
ALTER TABLE receipts ENABLE ROW LEVEL SECURITY;
ALTER TABLE receipts FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON receipts USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant'
        OR owner_no = ANY (ARRAY(SELECT jsonb_array_elements_text(NULLIF(current_setting('muniment.reach', true), '')::jsonb -> 'owners')::bigint)))));
ALTER TABLE receipts CLUSTER ON receipts_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON receipts TO muniment_app;

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON tenants USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant')));
ALTER TABLE tenants CLUSTER ON tenants_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON tenants TO muniment_app;

ALTER TABLE schema_version ENABLE ROW LEVEL SECURITY;
ALTER TABLE schema_version FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON schema_version USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb) IS NOT NULL);
ALTER TABLE schema_version CLUSTER ON schema_version_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON schema_version TO muniment_app;

ALTER TABLE shard
    ALTER COLUMN name SET STATISTICS 0,
    ALTER COLUMN map SET STATISTICS 0;
ALTER TABLE shard ENABLE ROW LEVEL SECURITY;
ALTER TABLE shard FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON shard USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb) IS NOT NULL);
ALTER TABLE shard CLUSTER ON shard_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON shard TO muniment_app;

ALTER TABLE residence
    ALTER COLUMN mover SET STATISTICS 0;
ALTER TABLE residence ENABLE ROW LEVEL SECURITY;
ALTER TABLE residence FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON residence USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store' OR tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant'));
ALTER TABLE residence CLUSTER ON residence_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON residence TO muniment_app;

ALTER TABLE placements
    ALTER COLUMN server SET STATISTICS 0,
    ALTER COLUMN target SET STATISTICS 0;
ALTER TABLE placements ENABLE ROW LEVEL SECURITY;
ALTER TABLE placements FORCE ROW LEVEL SECURITY;
CREATE POLICY reach ON placements USING (
    (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'store'
    OR (tenant_id = (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'tenant')
        AND (
        (SELECT NULLIF(current_setting('muniment.reach', true), '')::jsonb ->> 'wide') = 'tenant')));
ALTER TABLE placements CLUSTER ON placements_pkey;
GRANT SELECT, INSERT, UPDATE, DELETE ON placements TO muniment_app;

DO $$ BEGIN
    IF current_setting('server_version_num')::bigint >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON store, models, owners, records, words, vectors, usage, blocks, removals, tombstones, candidates, threads, entries, audit, imported_audit, imported_receipts, deletions, deletion_items, receipts, tenants, schema_version, shard, residence, placements TO muniment_app';
    END IF;
END $$;
