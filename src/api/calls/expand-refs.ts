import { withDigitsOf } from '../../kernel/json/digits.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { jsonText } from '../../kernel/json/text.js'
import { fieldPath, memberAt } from '../../domain/query/field-path.js'
import { parseRef } from '../../domain/refs/ref.js'
import type { StoredCall } from '../../projections/calls/columns.js'
import { invalidField } from '../../application/failure.js'
import { resolveRefs, type Sources } from '../../application/refs/resolve.js'

const MAX_COLUMNS = 32

const EXPANDED = ['attributes', 'inputs', 'output', 'summary'] as const
type ExpandedField = (typeof EXPANDED)[number]

/** A path in a call's payload that may have a reference. */
interface RefPath {
  readonly field: ExpandedField
  readonly path: readonly string[]
}

/** Parses `expand_columns` into paths, outer ones first. Unknown columns are ignored. */
export const expansionPaths = (columns: readonly string[] | null): readonly RefPath[] => {
  if ((columns?.length ?? 0) > MAX_COLUMNS)
    throw invalidField(['expand_columns'], 'too_long', `List should have at most ${MAX_COLUMNS} items`)
  return (columns ?? [])
    .map(fieldPath)
    .flatMap(([root, ...path]): RefPath[] => {
      const field = EXPANDED.find((one) => one === root.replace(/_dump$/, ''))
      return field === undefined ? [] : [{ field, path }]
    })
    .sort((a, b) => a.path.length - b.path.length)
}

/** Replaces the references at the given paths with their values. Unresolved references are kept. */
export const expandRefs = async (
  sources: Sources,
  calls: readonly StoredCall[],
  ways: readonly RefPath[],
): Promise<readonly StoredCall[]> => {
  const payloads = calls.map((call) => payloadOf(call, ways))
  for (const depth of new Set(ways.map(({ path }) => path.length))) {
    const places = payloads.flatMap((payload) =>
      ways.filter(({ path }) => path.length === depth).flatMap((way) => placeOf(payload, way)),
    )
    const texts = await resolveRefs(
      sources,
      places.map(({ ref }) => parseRef(ref)),
    )
    for (const [at, place] of places.entries()) place.put(withRef(parseJson(texts[at]!), place.ref))
  }
  return calls.map((call, at) => ({
    ...call,
    ...Object.fromEntries(
      Object.entries(payloads[at]!).map(([field, value]) => [field, jsonText(value as Json)]),
    ),
  }))
}

/** Parsed payload fields, to be modified in place. */
type Payload = Record<string, unknown>

const payloadOf = (call: StoredCall, ways: readonly RefPath[]): Payload =>
  Object.fromEntries(
    [...new Set(ways.map(({ field }) => field))].flatMap((field) => {
      const text = call[field]
      return text === null ? [] : [[field, parseJson(text)]]
    }),
  )

interface Place {
  readonly ref: string
  readonly put: (value: Json | undefined) => void
}

const placeOf = (payload: Payload, { field, path }: RefPath): readonly Place[] => {
  const member = memberAt(payload as JsonObject, [field, ...path])
  const ref = member?.holder[member.key]
  if (member === undefined || typeof ref !== 'string' || parseRef(ref) === undefined) return []
  return [
    {
      ref,
      put: (value) => {
        if (value !== undefined) Object.defineProperty(member.holder, member.key, { value, ...OWN })
      },
    },
  ]
}

/** For `Object.defineProperty`: an assignment to `__proto__` would set the prototype. */
const OWN = { enumerable: true, configurable: true, writable: true }

/** Adds the reference to a resolved object; undefined if it did not resolve. */
const withRef = (value: Json, ref: string): Json | undefined => {
  if (value === null) return undefined
  return isJsonObject(value) ? withDigitsOf(value, { ...value, _ref: ref } satisfies JsonObject) : value
}
