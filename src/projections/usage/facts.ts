import { FIGURES } from '../../domain/calls/usage/reported.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { inPages } from '../../kernel/pages.js'
import type { UsageReporting } from '../../domain/projects/project.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { END_LABELS, START_LABELS, type CallLabel } from './columns.js'
import { AnswerTooLarge } from './inclusive-usage.js'
import { isSameText, nativeBlocks, textAt, type NativeColumn, type Numbers, type Strings } from './native.js'
import { raw, select, sql, statementOf, typed, type Sql } from '../sql.js'
import { sinceYear2100, traceBuilder, type CallLabels, type Fact, type TraceCalls } from './trace.js'

interface Loading {
  /** A larger trace is refused. */
  readonly maxTraceCalls?: number
  readonly withLabels?: boolean
  /** The traces have few facts. */
  readonly isSmall?: boolean
}

/**
 * Loads the calls of traces as of a position.
 *
 * @throws TraceTooLarge
 */
export const loadTraces = async (
  reader: Pick<ClickHouseReader, 'stream'>,
  projectId: string,
  traceIds: readonly string[],
  position: Position,
  { maxTraceCalls, withLabels, isSmall = false }: Loading = {},
): Promise<TraceCalls> => {
  const builder = traceBuilder(maxTraceCalls)
  const { text, parameters } = statementOf(factsSql(projectId, sql`${traceIds}`, position, withLabels))
  await addFacts(builder, reader.stream(text, parameters, { isSmall }))
  return builder.finish()
}

/**
 * Loads the calls of the traces of given calls as of a position. Undefined for more facts than a limit.
 *
 * @throws TraceTooLarge
 */
export const loadTracesOfCalls = async (
  reader: Pick<ClickHouseReader, 'stream'>,
  projectId: string,
  callIds: readonly string[],
  position: Position,
  { maxFacts, maxTraceCalls }: Loading & { readonly maxFacts: number },
): Promise<TraceCalls | undefined> => {
  const builder = traceBuilder(maxTraceCalls)
  const traces = sql`(SELECT trace_id FROM call_index
  WHERE project_id = ${projectId} AND id IN ${callIds} AND call_index.position <= ${position})`
  const facts = factsSql(projectId, traces, position)
  const { text, parameters } = statementOf(sql`${facts} LIMIT ${typed('UInt64', maxFacts + 1)}`)
  const chunks = reader.stream(text, parameters, { isSmall: true })
  return (await addFacts(builder, chunks, maxFacts)) ? builder.finish() : undefined
}

const factsSql = (projectId: string, traces: Sql, position: Position, withLabels = false): Sql => sql`WITH
    (started_position > 0 AND started_position <= ${position}) AS started,
    (ended_position > 0 AND ended_position <= ${position}) AS ended,
    (deleted_position > 0 AND deleted_position <= ${position}) AS deleted
  SELECT ${raw(columnsOf({ ...FACTS, ...(withLabels ? LABELS : {}) }))} FROM usage_facts
  WHERE project_id = ${projectId} AND trace_id IN ${traces} AND (started OR ended OR deleted)
  ORDER BY usage_facts.project_id, usage_facts.trace_id, usage_facts.call_id, usage_facts.position`

const columnsOf = (columns: Readonly<Record<string, { readonly source: string }>>): string =>
  Object.values(columns)
    .map(({ source }) => source)
    .join(', ')

/** Returns false if there are more facts than the limit. */
const addFacts = async (
  builder: ReturnType<typeof traceBuilder>,
  chunks: AsyncIterable<Uint8Array>,
  limit = Infinity,
): Promise<boolean> => {
  const pause = yielding()
  let added = 0
  for await (const { rows, columns } of nativeBlocks(chunks)) {
    if ((added += rows) > limit) return false
    const fact = factReader(byName(columns))
    for (let row = 0; row < rows; row += 1) {
      builder.add(fact(row))
      if (row % 64 === 0) await pause()
    }
  }
  return true
}

const text = (source: string) => ({ kind: 'strings', source }) as const
const number = (source: string) => ({ kind: 'numbers', source }) as const
const array = (source: string) => ({ kind: 'arrays', source }) as const

const FACTS = {
  traceId: text('trace_id'),
  id: text('call_id'),
  parentId: text('parent_id'),
  hasStart: number('toUInt8(started OR ended)'),
  hasEnd: number('toUInt8(ended)'),
  isDeleted: number('toUInt8(deleted)'),
  started: number(sinceYear2100('started_at')),
  ended: number(sinceYear2100('ended_at')),
  source: number('toUInt8(source)'),
  statusTotal: number('ifNull(toFloat64(status_total), nan)'),
  models: array("if(ended, CAST(models, 'Array(String)'), [])"),
  responseId: text("if(ended, response_id, '')"),
  figures: array("if(ended, CAST(figures, 'Array(Float64)'), [])"),
}

const LABELS = {
  isStart: number('toUInt8(started)'),
  ...(Object.fromEntries(
    [...START_LABELS, ...END_LABELS].map((label) => [label, text(`CAST(${label}, 'String')`)]),
  ) as Record<CallLabel, ReturnType<typeof text>>),
}

type ColumnsOf<Facts extends Readonly<Record<string, Pick<NativeColumn, 'kind'>>>> = {
  readonly [Name in keyof Facts]: Extract<NativeColumn, Pick<Facts[Name], 'kind'>>
}
type FactColumns = ColumnsOf<typeof FACTS> & Partial<ColumnsOf<typeof LABELS>>

const NAMES = Object.keys({ ...FACTS, ...LABELS })

/** The columns of a block by name. */
const byName = (columns: readonly NativeColumn[]) =>
  Object.fromEntries(columns.map((column, index) => [NAMES[index], column])) as FactColumns

/** Reads rows into one reused object. */
const factReader = (columns: FactColumns): ((row: number) => Fact) => {
  const { traceId, id, parentId, hasStart, hasEnd, isDeleted, started, ended, source, statusTotal } = columns
  const { models, figures, responseId } = columns
  const labelsOf = labelReader(columns)
  const values = (figures.elements as Numbers).values
  const fact = {
    traceId: '',
    id: '',
    parentId: '',
    hasStart: false,
    hasEnd: false,
    isDeleted: false,
    started: 0.5,
    ended: 0.5,
    source: 0,
    statusTotal: NaN,
    responseId: '',
    models: [] as string[],
    figures: [] as number[],
    ...(labelsOf === undefined ? {} : { labels: labelsOf(0) }),
  }
  return (row) => {
    if (row === 0 || !isSameText(traceId, row, row - 1)) fact.traceId = textAt(traceId, row)
    fact.id = textAt(id, row)
    fact.parentId = textAt(parentId, row)
    fact.hasStart = hasStart.values[row] === 1
    fact.hasEnd = hasEnd.values[row] === 1
    fact.isDeleted = isDeleted.values[row] === 1
    fact.started = started.values[row]!
    fact.ended = ended.values[row]!
    fact.source = source.values[row]!
    fact.statusTotal = statusTotal.values[row]!
    fact.responseId = responseId.starts[row] === responseId.ends[row] ? '' : textAt(responseId, row)
    fact.models.length = 0
    fact.figures.length = 0
    if (labelsOf !== undefined) fact.labels = labelsOf(row)
    const [first, end] = [row === 0 ? 0 : models.ends[row - 1]!, models.ends[row]!]
    for (let n = first; n < end; n += 1) fact.models.push(textAt(models.elements as Strings, n))
    for (let k = first * FIGURES.length; k < end * FIGURES.length; k += 1) fact.figures.push(values[k]!)
    return fact
  }
}

const labelReader = ({ hasEnd, isStart, ...columns }: FactColumns) => {
  if (isStart === undefined) return undefined
  return (row: number): Partial<CallLabels> => {
    const labels: Partial<Record<CallLabel, string>> = {}
    if (isStart.values[row] === 1)
      for (const label of START_LABELS) labels[label] = textAt(columns[label]!, row)
    if (hasEnd.values[row] === 1) for (const label of END_LABELS) labels[label] = textAt(columns[label]!, row)
    return labels
  }
}

/** The `usage_reporting` of a project at a position. */
export const usageReportingAt = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  position: Position,
): Promise<UsageReporting> => {
  const [row] = await select<{ usage_reporting: UsageReporting }>(
    reader,
    sql`SELECT usage_reporting FROM usage_reporting
    WHERE project_id = ${projectId} AND position <= ${position}
    ORDER BY position DESC LIMIT 1`,
  )
  return row?.usage_reporting ?? 'auto'
}

/** The facts that are loaded at once. A larger trace is loaded alone. */
const FACTS_AT_ONCE = 250_000
const TRACES_AT_ONCE = 5000

export interface TraceSize {
  readonly traceId: string
  readonly facts: number
}

/**
 * The traces that have facts, with their number.
 *
 * @throws AnswerTooLarge
 */
export const traceSizes = async (
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  traceIds: readonly string[],
  maxFacts = Infinity,
): Promise<readonly TraceSize[]> => {
  const sizes: TraceSize[] = []
  for (let from = 0, all = 0; from < traceIds.length; from += TRACES_AT_ONCE) {
    const found = await select<TraceSize>(
      reader,
      sql`SELECT trace_id AS traceId, count() AS facts FROM usage_facts
      WHERE project_id = ${projectId} AND trace_id IN ${traceIds.slice(from, from + TRACES_AT_ONCE)}
      GROUP BY trace_id ORDER BY trace_id`,
    )
    all += sumOfFacts(found)
    if (all > maxFacts) throw new AnswerTooLarge(`traces with more than ${maxFacts} facts`)
    sizes.push(...found)
  }
  return sizes
}

export const sumOfFacts = (sizes: readonly TraceSize[]): number =>
  sizes.reduce((sum, { facts }) => sum + facts, 0)

/** Groups traces to be loaded together. */
export function* batchesOf(
  sizes: readonly TraceSize[],
  factsAtOnce = FACTS_AT_ONCE,
): Generator<readonly string[]> {
  for (const batch of inPages(sizes, ({ facts }) => facts, { items: TRACES_AT_ONCE, weight: factsAtOnce }))
    yield batch.map(({ traceId }) => traceId)
}

/** Groups traces to be loaded together. Of several traces, those without facts are left out. */
export async function* batchesOfTraces(
  reader: Pick<ClickHouseReader, 'query'>,
  projectId: string,
  traceIds: readonly string[],
  factsAtOnce?: number,
): AsyncGenerator<readonly string[]> {
  if (traceIds.length === 1) yield traceIds
  else yield* batchesOf(await traceSizes(reader, projectId, traceIds), factsAtOnce)
}
