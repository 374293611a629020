import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { askedFields, USED_MODEL_FIELD, withFields } from '../../domain/query/asked-fields.js'
import { fieldPath, printFieldPath as nameOf, type FieldPath } from '../../domain/query/field-path.js'
import { parseRef } from '../../domain/refs/ref.js'
import { conjunctsOf } from '../../projections/calls/locate.js'
import { expandedField, type Expansion } from '../../projections/calls/expansions.js'
import { refsInColumn } from '../../projections/calls/referenced.js'
import type { CallSelection } from '../../projections/calls/select.js'
import { isUsageField } from '../../projections/calls/usage-fields.js'
import type { OrderBy } from '../../projections/expression/order.js'
import { Failure } from '../../application/failure.js'
import { resolveRefs, type Sources } from '../../application/refs/resolve.js'
import { expansionPaths } from './expand-refs.js'

/** Of one column. The values become part of the statement. */
const MAX_REFS = 10_000
const MAX_CHARACTERS = 16 * 1024 * 1024

/** A selection and its order. */
interface SortedSelection {
  readonly selection: CallSelection
  readonly sortBy: readonly OrderBy[]
}

/**
 * The same selection where fields behind `expand_columns` are those of the values that references lead to. The values of
 * the selected calls' references are read first, of outer columns before inner ones.
 *
 * @throws Failure, if they are too many
 */
export const withReferencedFields = async (
  reader: ClickHouseReader,
  sources: () => Sources,
  { selection, sortBy }: SortedSelection,
  columns: readonly string[] | null,
): Promise<SortedSelection> => {
  const paths = expansionPaths(columns).map(({ field, path }): FieldPath => [field, ...path])
  const { operation } = selection
  const names = [...(operation === null ? [] : askedFields(operation)), ...sortBy.map(({ field }) => field)]
  const used = paths.filter((path) => names.some((name) => isBehind(fieldPath(name), path)))
  if (used.length === 0) return { selection, sortBy }

  /** The name of a field within the innermost of some expanded columns. */
  const renamed = (name: string, among: readonly FieldPath[]): string => {
    const path = fieldPath(name)
    const index = among.findLastIndex((column) => isBehind(path, column))
    return index < 0 ? name : expandedField(index, path.slice(among[index]!.length))
  }
  const expansions: Expansion[] = []
  const candidates = { ...selection, operation: withoutFields(selection, used), expansions }
  for (const [index, path] of used.entries()) {
    const field = renamed(nameOf(path), used.slice(0, index))
    const refs = await refsInColumn(reader)(candidates, field, MAX_REFS + 1)
    if (refs.length > MAX_REFS) throw tooMany(nameOf(path), `more than ${MAX_REFS} different references`)
    const values = await resolveRefs(sources(), refs.map(parseRef))
    if (values.reduce((sum, { length }) => sum + length, 0) > MAX_CHARACTERS)
      throw tooMany(nameOf(path), `references to more than ${MAX_CHARACTERS} characters`)
    const resolved = refs.flatMap((ref, at) => (values[at] === 'null' ? [] : [{ ref, value: values[at]! }]))
    expansions.push({
      field,
      refs: resolved.map(({ ref }) => ref),
      values: resolved.map(({ value }) => value),
    })
  }
  return {
    selection: {
      ...selection,
      operation: operation && withFields(operation, (name) => renamed(name, used)),
      expansions,
    },
    sortBy: sortBy.map((one) => ({ ...one, field: renamed(one.field, used) })),
  }
}

const isBehind = (path: FieldPath, column: FieldPath): boolean =>
  path.length > column.length &&
  column.every((part, at) => part === (at === 0 ? path[0].replace(/_dump$/, '') : path[at]))

/** The conditions that decide without referenced values and usage, so that few references are read. */
const withoutFields = ({ operation }: CallSelection, columns: readonly FieldPath[]) => {
  if (operation === null) return null
  const $and = conjunctsOf(operation).filter(
    (one) =>
      !askedFields(one).some(
        (name) =>
          isUsageField(name) ||
          name === USED_MODEL_FIELD ||
          columns.some((column) => isBehind(fieldPath(name), column)),
      ),
  )
  return $and.length === 0 ? null : { $and }
}

const tooMany = (column: string, what: string): Failure =>
  new Failure(
    'too-large',
    `The selected calls have ${what} in ${column}. Add conditions on other fields, such as op_name or started_at.`,
  )
