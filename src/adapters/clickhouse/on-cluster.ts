/**
 * A statement that makes or changes tables, as it is run for a cluster: on all its servers, with each table replicated.
 * A table's UUID is its place in Keeper, so that tables can be exchanged. No insert is dropped because an earlier one
 * looked the same: the table may have been emptied in between.
 *
 * @throws when a statement is of a form that it does not know: it would be run on one server alone
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
