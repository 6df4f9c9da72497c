-- Tables that only PostgreSQL has, where many transactions write at once.

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
