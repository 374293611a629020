import type { Json } from '../../domain/json/json.js'
import { parseJson } from '../../domain/json/parse.js'
import type { Column } from '../expression/fields.js'
import { instantFrom } from '../clickhouse-values.js'
import { readableJson } from '../expression/readable-json.js'
import { JSON_COLUMNS, TEXT_COLUMNS, type FeedbackColumn } from './feedback-row.js'

/** A piece of feedback as the queries read it. */
export type StoredFeedback = Readonly<Record<FeedbackColumn, Json>>

/** What queries may ask about, each as it reads in SQL. */
export const FEEDBACK_FIELDS: Readonly<Record<string, Column>> = {
  ...Object.fromEntries(TEXT_COLUMNS.map((column) => [column, { kind: 'text', sql: column }])),
  ...Object.fromEntries(JSON_COLUMNS.map((column) => [column, { kind: 'json', sql: `readable_${column}` }])),
  payload_dump: { kind: 'json', sql: 'readable_payload' },
  created_at: { kind: 'instant', sql: 'created_at' },
}

/** What stands before a `SELECT` that speaks of {@link FEEDBACK_FIELDS}: what those are that it speaks of. */
export const withReadable = (sql: string): string => {
  const spokenOf = JSON_COLUMNS.filter((column) => sql.includes(`readable_${column}`))
  return spokenOf.length === 0
    ? ''
    : `WITH ${spokenOf.map((column) => `${readableJson(column)} AS readable_${column}`).join(', ')}`
}

export const SELECTED = [...TEXT_COLUMNS, ...JSON_COLUMNS, 'created_at']
  .map((column) => `${column} AS field_${column}`)
  .join(', ')

export const storedFeedback = (row: Readonly<Record<string, string | null>>): StoredFeedback => {
  const value = (column: FeedbackColumn): string | null => row[`field_${column}`] ?? null
  const parsed = (text: string | null): Json => (text === null ? null : parseJson(text))
  return {
    ...Object.fromEntries(TEXT_COLUMNS.map((column) => [column, value(column)])),
    ...Object.fromEntries(JSON_COLUMNS.map((column) => [column, parsed(value(column))])),
    created_at: instantFrom(value('created_at') ?? ''),
  } as unknown as StoredFeedback
}
