import type { SqlParameter } from '../../kernel/ports/clickhouse.js'

/** Collects the parameters of a statement, and returns a placeholder for each. Equal values and the same list share one. */
export interface Parameters {
  readonly text: (value: string) => string
  readonly number: (value: number) => string
  readonly texts: (values: readonly string[]) => string
  readonly numbers: (values: readonly number[]) => string
  readonly all: () => Readonly<Record<string, SqlParameter>>
}

/** The names of the parameters begin with the prefix, so that those of several parts of a statement differ. */
export const newParameters = (prefix = 'x'): Parameters => {
  const values: Record<string, SqlParameter> = {}
  const known = new Map<string | readonly string[], string>()
  let count = 0

  const add = (type: string, value: SqlParameter): string => {
    const name = `${prefix}${count}`
    count += 1
    values[name] = value
    return `{${name}:${type}}`
  }

  const shared = (type: string, value: string | number | readonly string[]): string => {
    const key = Array.isArray(value) ? (value as readonly string[]) : `${type} ${value as string | number}`
    const placeholder = known.get(key) ?? add(type, value)
    known.set(key, placeholder)
    return placeholder
  }

  return {
    text: (value) => shared('String', value),
    number: (value) => shared('Float64', value),
    texts: (list) => shared('Array(String)', list),
    numbers: (list) => add('Array(Float64)', list),
    all: () => values,
  }
}
