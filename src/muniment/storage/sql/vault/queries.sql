-- Every statement that runs on a key store, each with a name and one sentence.

-- name: any_table
-- Whether the file holds a table.
SELECT 1 FROM sqlite_schema LIMIT 1;

-- name: root
-- The store's own keys, wrapped by the master key.
SELECT wrapped FROM vault;

-- name: insert_root
-- Keep the keys of a new store.
INSERT INTO vault (one, wrapped) VALUES (1, :wrapped) ON CONFLICT DO NOTHING;

-- name: replace_root
-- Keep the store's own keys under another master key.
UPDATE vault SET wrapped = :wrapped;

-- name: data_keys
-- Every data key that an owner had or has.
SELECT generation, incarnation, wrapped, replaced FROM data_keys
WHERE tenant_id = :tenant_id AND owner_no = :owner_no
ORDER BY generation;

-- name: every_data_key
-- Every data key that is not destroyed.
SELECT tenant_id, owner_no, incarnation, generation, wrapped FROM data_keys
WHERE wrapped IS NOT NULL;

-- name: insert_data_key
-- Keep a new data key.
INSERT INTO data_keys (tenant_id, owner_no, incarnation, generation, wrapped)
VALUES (:tenant_id, :owner_no, :incarnation, :generation, :wrapped);

-- name: replace_data_key
-- Keep a data key under another wrapping key.
UPDATE data_keys SET wrapped = :wrapped
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND generation = :generation;

-- name: destroy_data_keys
-- Destroy the data keys of an owner's incarnation up to a generation.
UPDATE data_keys SET wrapped = NULL, replaced = :replaced
WHERE tenant_id = :tenant_id AND owner_no = :owner_no AND incarnation = :incarnation
    AND generation <= :generation AND wrapped IS NOT NULL
RETURNING generation;
