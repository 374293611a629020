/**
 * A statement that creates or changes tables, for a cluster: it runs on all servers, and each table is replicated. The
 * path in Keeper is the table's UUID, so that tables can be exchanged. Equal inserts are not deduplicated, because the
 * table may have been emptied in between.
 *
 * @throws if the form of the statement is unknown, because it would run on one server only
 */
export const onCluster = (cluster: string, statement: string): string => {
  const form = FORMS.find((known) => known.test(statement))
  if (form === undefined || (form === CREATE && !ENGINE.test(statement)))
    throw new Error(`no ON CLUSTER form for statement: ${statement.slice(0, 60)}`)
  const everywhere = statement.replace(form, (head) => `${head} ON CLUSTER ${cluster}`)
  return form === CREATE ? deduplicateNothing(everywhere.replace(ENGINE, replicated)) : everywhere
}

const CREATE = /^CREATE TABLE IF NOT EXISTS [\w.]+/
const FORMS = [
  CREATE,
  /^DROP TABLE IF EXISTS [\w.]+/,
  /^ALTER TABLE [\w.]+/,
  /^EXCHANGE TABLES [\w.]+ AND [\w.]+/,
  /^CREATE DATABASE IF NOT EXISTS \w+/,
  /^DROP DATABASE IF EXISTS \w+/,
]

const ENGINE = /\bENGINE = (\w*MergeTree)\b(?:\(([^)]*)\))?/

const replicated = (_: string, engine: string, parameters = ''): string => {
  const given = [
    `'/clickhouse/tables/{uuid}/{shard}'`,
    `'{replica}'`,
    ...(parameters === '' ? [] : [parameters]),
  ]
  return `ENGINE = Replicated${engine}(${given.join(', ')})`
}

const NO_DEDUPLICATION = 'replicated_deduplication_window = 0'

const deduplicateNothing = (statement: string): string =>
  /\bSETTINGS\b/.test(statement)
    ? statement.replace(/\bSETTINGS\b/, `SETTINGS ${NO_DEDUPLICATION},`)
    : `${statement}\nSETTINGS ${NO_DEDUPLICATION}`
