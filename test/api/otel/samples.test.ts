import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { sharedService, someProject } from '../shared-service.js'
import type { TestService } from '../../support/service.js'

const FOLDER = join(import.meta.dirname, '../../samples/otlp')

interface Expected {
  readonly spans: number
  readonly traces: number
  readonly roots: number
  readonly orphans: number
  readonly errors: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_tokens: number
}

interface Sample {
  readonly resourceSpans: readonly {
    readonly resource: JsonObject
    readonly scopeSpans: readonly { readonly scope: JsonObject; readonly spans: readonly JsonObject[] }[]
  }[]
}

const expected = JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8')) as Record<string, Expected>

const sample = (name: string): Sample =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Sample

/** Requests of one span each. */
const split = ({ resourceSpans }: Sample): readonly Sample[] =>
  resourceSpans.flatMap(({ scopeSpans, ...resource }) =>
    scopeSpans.flatMap(({ spans, ...scope }) =>
      spans.map((span) => ({ resourceSpans: [{ ...resource, scopeSpans: [{ ...scope, spans: [span] }] }] })),
    ),
  )

/** The figures of `expected.json`, from what the service answers. */
const recordedIn = async (service: TestService, project: string): Promise<Expected> => {
  const client = service.in(project)
  const { calls } = await client.calls.query({ limit: 1000 }).json()
  const { call_usage: usage } = (await client.usage.ofTraces().json()) as {
    call_usage: Record<string, Record<string, Record<string, number>>>
  }
  const ids = new Set(calls.map(({ id }) => id))
  const isTop = ({ parent_id: parent }: { parent_id?: string | null }) => parent == null || !ids.has(parent)
  const tops = calls.filter((call) => isTop(call))
  const sumOf = (figure: string) => {
    let sum = 0
    for (const top of tops) for (const used of Object.values(usage[top.id] ?? {})) sum += used[figure] ?? 0
    return sum
  }
  return {
    spans: calls.length,
    traces: new Set(calls.map(({ trace_id }) => trace_id)).size,
    roots: tops.filter(({ otel_dump }) => otel_dump.parent_id === null).length,
    orphans: tops.filter(({ otel_dump }) => otel_dump.parent_id !== null).length,
    errors: calls.filter(({ exception }) => exception != null).length,
    input_tokens: sumOf('prompt_tokens'),
    output_tokens: sumOf('completion_tokens'),
    cache_read_tokens: sumOf('cache_read_input_tokens'),
  }
}

describe('requests of exporters', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  for (const name of readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json') && !/^(expected|meanings)\.json$/.test(file))
    .map((file) => file.replace('.json', ''))) {
    const ways: Readonly<Record<string, (whole: Sample) => readonly Sample[]>> = {
      whole: (whole) => [whole],
      'span by span': split,
      'span by span, in the reverse order': (whole) => [...split(whole)].reverse(),
      'twice, whole and span by span': (whole) => [whole, ...split(whole)],
    }
    for (const [way, requestsOf] of Object.entries(ways))
      it(`of ${name} are counted once when sent ${way}`, async () => {
        const project = someProject()

        for (const request of requestsOf(sample(name))) {
          const answered = await service.post(`/v2/${project}/otel/v1/traces`, request)
          assert.equal(answered.status, 200)
          assert.deepEqual(answered.json(), {})
        }

        assert.deepEqual(await recordedIn(service, project), expected[name])
      })
  }
})
