import { deepStrictEqual } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { spansInJson } from '../../../../src/api/otel/json-request.js'
import { meaningOf } from '../../../../src/domain/otel/meaning.js'
import { SpanRefusal } from '../../../../src/domain/otel/span.js'
import { isJsonObject, type Json, type JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'

const FOLDER = new URL('../../../samples/otlp/', import.meta.url)
const json = (name: string): Json => parseJson(readFileSync(new URL(name, FOLDER), 'utf8'))

/** The meaning of each span of a request, without what is null. */
const meaningsIn = async (request: Json): Promise<JsonObject> => {
  const meanings: Record<string, Json> = {}
  for (const { span, scope, resource } of await spansInJson(request)) {
    if (span instanceof SpanRefusal) throw new Error(span.reason)
    const { parentCall, run, start, end, isPlaceholder, ...others } = meaningOf(span, scope, resource)
    deepStrictEqual({ run, start, end, isPlaceholder }, NO_TIMES)
    const present = Object.entries({ ...others, parentCall }).filter(([, value]) => value !== null)
    meanings[`${span.spanId.slice(-2)} ${span.name}`] = Object.fromEntries<Json>(present)
  }
  return meanings
}

const NO_TIMES = {
  run: { id: null, step: null, stepEnd: null },
  start: null,
  end: null,
  isPlaceholder: false,
}

describe('the meaning of spans that instrumentations sent', () => {
  const expected = json('meanings.json')
  const names = readdirSync(FOLDER).filter((name) => !['meanings.json', 'expected.json'].includes(name))

  for (const name of names)
    it(`is read of ${name}`, async () => {
      const of = isJsonObject(expected) ? expected[name.replace('.json', '')] : undefined
      deepStrictEqual(await meaningsIn(json(name)), of)
    })
})
