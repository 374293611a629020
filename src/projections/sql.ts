import type { ClickHouseReads, SqlParameter, SqlParameters } from '../kernel/ports/clickhouse.js'

interface Value {
  readonly type: string
  readonly value: SqlParameter
}

/** A statement or a part of one, with the values in it. Parts are put into others as they are. */
export class Sql {
  constructor(
    readonly pieces: readonly (string | Value)[],
    /** The values of placeholders, `{name:Type}`, that its text has. */
    readonly named: SqlParameters = {},
  ) {}
}

type Part = Sql | string | bigint | readonly string[]

/**
 * A statement as a template: `sql\`SELECT * FROM runs WHERE project_id = ${project}\``. Texts, positions and lists of texts
 * become values, which a client can choose; what is part of the statement itself is an {@link Sql}.
 */
export const sql = (texts: TemplateStringsArray, ...parts: readonly Part[]): Sql => {
  const pieces: (string | Value)[] = [texts[0]!]
  let named: SqlParameters = {}
  for (const [index, part] of parts.entries()) {
    const inner = part instanceof Sql ? part : valueOf(part)
    pieces.push(...inner.pieces, texts[index + 1]!)
    named = { ...named, ...inner.named }
  }
  return new Sql(pieces, named)
}

/** Text of this source, such as the name of a column, perhaps with placeholders of its own. */
export const raw = (text: string, named: SqlParameters = {}): Sql => new Sql([text], named)

/** A value of another type than {@link sql} chooses. */
export const typed = (type: string, value: SqlParameter): Sql => new Sql([{ type, value }])

const valueOf = (part: Exclude<Part, Sql>): Sql =>
  typed(typeof part === 'string' ? 'String' : typeof part === 'bigint' ? 'UInt64' : 'Array(String)', part)

const joined = (parts: readonly Sql[], separator: string): Sql =>
  parts.length === 0
    ? raw('')
    : new Sql(
        parts.flatMap(({ pieces }, index) => (index === 0 ? pieces : [separator, ...pieces])),
        Object.assign({}, ...parts.map(({ named }) => named)) as SqlParameters,
      )

/** Conditions of which all must hold; true without any. */
export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? raw('true') : joined(conditions, ' AND ')

/** The text with placeholders, and their values. Equal values share one, as do uses of the same list. */
export const statementOf = ({ pieces, named }: Sql): { text: string; parameters: SqlParameters } => {
  const parameters: Record<string, SqlParameter> = { ...named }
  const names = new Map<string | SqlParameter, string>()
  const nameOf = ({ type, value }: Value): string => {
    const key = typeof value === 'object' ? value : `${type} ${value}`
    const name = names.get(key) ?? `p${names.size}`
    names.set(key, name)
    parameters[name] = value
    return name
  }
  const text = pieces
    .map((piece) => (typeof piece === 'string' ? piece : `{${nameOf(piece)}:${piece.type}}`))
    .join('')
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
