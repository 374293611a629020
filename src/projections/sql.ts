import type { Instant } from '../kernel/codec/instant.js'
import type { ClickHouseReads, SqlParameter, SqlParameters } from '../kernel/ports/clickhouse.js'
import type { Position } from '../kernel/ports/event-store.js'
import { dateTime64, SQL_TIME } from './clickhouse-values.js'

interface Value {
  readonly type: string
  readonly value: SqlParameter
}

/** A statement or a part of one, with the values in it. Parts are put into others as they are. */
export class Sql {
  constructor(
    readonly pieces: readonly (string | Value | Sql)[],
    /** The values of placeholders, `{name:Type}`, that its text has. */
    readonly named: SqlParameters = {},
  ) {}

  /** With placeholders. */
  get text(): string {
    return statementOf(this).text
  }
}

type Part = Sql | string | bigint | readonly string[]

/**
 * A statement as a template: `sql\`SELECT * FROM runs WHERE project_id = ${project}\``. Texts, positions and lists of texts
 * become values, which a client can choose; what is part of the statement itself is an {@link Sql}.
 */
export const sql = (texts: TemplateStringsArray, ...parts: readonly Part[]): Sql =>
  new Sql(
    texts.flatMap((text, index) => {
      const part = parts[index]
      return part === undefined ? [text] : [text, part instanceof Sql ? part : valueOf(part)]
    }),
  )

/** Text of this source, such as the name of a column, perhaps with placeholders of its own. */
export const raw = (text: string, named: SqlParameters = {}): Sql => new Sql([text], named)

/** A value of another type than {@link sql} chooses. */
export const typed = (type: string, value: SqlParameter): Sql => new Sql([{ type, value }])

const valueOf = (part: Exclude<Part, Sql>): Value => ({
  type: typeof part === 'string' ? 'String' : typeof part === 'bigint' ? 'UInt64' : 'Array(String)',
  value: part,
})

/** A time as a value. */
export const timeSql = (time: Instant): Sql => typed(SQL_TIME, dateTime64(time))

/** A condition on a value if there is one. */
export const given = <V>(value: V | null | undefined, condition: (value: V) => Sql): readonly Sql[] =>
  value == null ? [] : [condition(value)]

/**
 * The condition on the project. It has the values of `{project:String}` and `{position:UInt64}`: parts of statements that are
 * made once have these placeholders.
 */
export const ofProject = (project: string, position: Position): Sql =>
  raw('project_id = {project:String}', { project, position })

/**
 * A list of texts as the right side of `IN`. An inline list becomes part of the names of columns, so that 30,000 ids take
 * seconds.
 */
export const listed = (list: readonly string[]): Sql => sql`(SELECT arrayJoin(${list}))`

export const joined = (parts: readonly Sql[], separator = ', '): Sql =>
  new Sql(parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part])))

/** Conditions of which all must hold; true without any. */
export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0
    ? raw('true')
    : joined(
        conditions.map((one) => sql`(${one})`),
        ' AND ',
      )

/** The text with placeholders, and their values. Equal values share one, as do uses of the same list. */
export const statementOf = (statement: Sql): { text: string; parameters: SqlParameters } => {
  const parameters: Record<string, SqlParameter> = {}
  const names = new Map<string | SqlParameter, string>()
  const nameOf = ({ type, value }: Value): string => {
    const key = typeof value === 'object' ? value : `${type} ${value}`
    const name = names.get(key) ?? `p${names.size}`
    names.set(key, name)
    parameters[name] = value
    return name
  }
  let text = ''
  const add = ({ pieces, named }: Sql): void => {
    Object.assign(parameters, named)
    for (const piece of pieces)
      if (piece instanceof Sql) add(piece)
      else text += typeof piece === 'string' ? piece : `{${nameOf(piece)}:${piece.type}}`
  }
  add(statement)
  return { text, parameters }
}

/** The rows that a statement selects, as objects. */
export const select = <Row>(
  reader: Pick<ClickHouseReads, 'query'>,
  statement: Sql,
): Promise<readonly Row[]> => {
  const { text, parameters } = statementOf(statement)
  return reader.query<Row>(text, parameters)
}
