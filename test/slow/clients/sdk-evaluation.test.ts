import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import {
  assertNoneRefused,
  opOf,
  startSdkService,
  type Call,
  type SdkService,
} from '../../e2e/sdk-service.js'
import { usageOf } from '../../e2e/usage.js'

const PROJECT = 'team/evaluating'
const ROWS = [
  { country: 'France', capital: 'Paris' },
  { country: 'Japan', capital: 'Tokyo' },
  { country: 'Atlantis', capital: 'none' },
  { country: 'Peru', capital: 'Lima' },
  { country: 'Kenya', capital: 'Nairobi' },
]

describe('an evaluation by the SDK of npm', () => {
  let sdk: SdkService
  let told: { readonly result: JsonObject; readonly dataset: string }
  let calls: readonly Call[]
  before(async () => {
    sdk = await startSdkService()
    told = await sdk.told('evaluating', PROJECT)
    calls = await sdk.callsOf(PROJECT)
  })
  after(() => sdk.stop())

  const named = (op: string) => calls.filter((call) => opOf(call) === op)
  const root = () => named('Evaluation.evaluate')[0]!
  const below = (above: Call, op: string) =>
    calls.filter((call) => call.parent_id === above.id && opOf(call) === op)
  const readRefs = async (refs: readonly unknown[]) =>
    (await sdk.answered<{ vals: readonly Json[] }>('/refs/read_batch', { refs })).vals
  const rowsOfTable = (digest: string) =>
    sdk.answered<{ rows: readonly { digest: string; val: Json; original_index: number }[] }>('/table/query', {
      project_id: PROJECT,
      digest,
    })

  it('is one trace, every call of it under its parent', () => {
    assert.deepEqual(
      ['Evaluation.evaluate', 'Evaluation.predictAndScore', 'capital_of', 'exact', 'judged'].map(
        (op) => named(op).length,
      ),
      [1, 5, 5, 4, 4],
    )
    assert.equal(calls.length, 19)
    assert.equal(new Set(calls.map(({ trace_id }) => trace_id)).size, 1)
    assert.equal(root().parent_id, null)
    const predictions = below(root(), 'Evaluation.predictAndScore')
    assert.equal(predictions.length, 5)
    for (const prediction of predictions) {
      const [model, ...more] = below(prediction, 'capital_of')
      assert.deepEqual(more, [])
      const scores = model!.exception === null ? 1 : 0
      assert.equal(below(prediction, 'exact').length, scores)
      assert.equal(below(prediction, 'judged').length, scores)
    }
  })

  it('had children that arrived before their parents', () => {
    const arrived = sdk.proxy.exchanges
      .filter(({ path }) => path === '/call/upsert_batch')
      .flatMap(({ body }) => (JSON.parse(body) as { batch: readonly SentItem[] }).batch)
      .flatMap(({ req: { start } }) => (start === undefined ? [] : [start]))
    const places = new Map(arrived.map(({ id }, place) => [id, place]))
    const early = arrived.filter(({ parent_id }, place) => (places.get(parent_id ?? '') ?? -1) > place)
    assert.ok(early.length > 0)
  })

  it('has usage that is not doubled by the sums of the SDK', async () => {
    const usage = await sdk.answered('/trace/usage', {
      project_id: PROJECT,
      filter: { trace_ids: [root().trace_id] },
    })
    const expected = (call: Call) => {
      const country = countryOf.get(call.id)
      const guessed = country !== undefined && country !== 'Atlantis'
      switch (opOf(call)) {
        case 'Evaluation.evaluate':
          return usageOf({ guesser: [4, 40, 20], judge: [4, 400, 4] })
        case 'Evaluation.predictAndScore':
          return guessed ? usageOf({ guesser: [1, 10, country.length], judge: [1, 100, 1] }) : {}
        case 'capital_of':
          return guessed ? usageOf({ guesser: [1, 10, country.length] }) : {}
        case 'judged':
          return usageOf({ judge: [1, 100, 1] })
        default:
          return {}
      }
    }
    const countryOf = await countries()
    assert.deepEqual(usage, {
      call_usage: Object.fromEntries(calls.map((call) => [call.id, expected(call)])),
      unfinished_call_ids: [],
    })
  })

  /** By the id of each call that has a row. */
  const countries = async (): Promise<ReadonlyMap<string, string>> => {
    const withRow = calls.flatMap(({ id, inputs }) => {
      const row = inputs['example'] ?? inputs['datasetRow']
      return row === undefined ? [] : [{ id, row }]
    })
    const rows = (await readRefs(withRow.map(({ row }) => row))) as readonly { country: string }[]
    return new Map(withRow.map(({ id }, index) => [id, rows[index]!.country]))
  }

  it('is read with the outputs of the SDK', async () => {
    const { model_latency, ...result } = told.result
    assert.deepEqual(root().output, told.result)
    assert.ok(typeof (model_latency as { mean: number }).mean === 'number')
    assert.deepEqual(result, {
      model_success: { true_count: 4, true_fraction: 0.8 },
      model_output: { usage: { prompt_tokens: { mean: 8 }, completion_tokens: { mean: 4 } } },
      exact: { true_count: 3, true_fraction: 0.6 },
      judged: {
        points: { mean: 0.7 },
        capitalised: { true_count: 4, true_fraction: 0.8 },
        usage: {
          prompt_tokens: { mean: 80 },
          completion_tokens: { mean: 0.8 },
          total_tokens: { mean: 80.8 },
        },
      },
    })
    const countryOf = await countries()
    const outputOf = (country: string) => {
      const call = named('Evaluation.predictAndScore').find(({ id }) => countryOf.get(id) === country)!
      const { model_latency: latency, ...output } = call.output as JsonObject
      assert.equal(typeof latency, 'number')
      return output
    }
    const guess = (text: string, country: string) => ({
      text,
      model: 'guesser',
      usage: { prompt_tokens: 10, completion_tokens: country.length },
    })
    assert.deepEqual(outputOf('Atlantis'), { model_success: false, scores: {} })
    assert.deepEqual(outputOf('Japan'), {
      model_success: true,
      model_output: guess('Kyoto', 'Japan'),
      scores: {
        exact: false,
        judged: {
          points: 0.5,
          capitalised: true,
          model: 'judge',
          usage: { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 },
        },
      },
    })
    const [failed] = named('capital_of').filter(({ exception }) => exception !== null)
    assert.equal(failed?.exception, 'Atlantis is not on the map')
  })

  it('names its rows by references, which are read back row by row', async () => {
    const dataset = (await readRefs([told.dataset]))[0] as { rows: string }
    const { rows } = await rowsOfTable(dataset.rows.split('/').at(-1)!)
    assert.deepEqual(
      rows.map(({ val }) => val),
      ROWS,
    )
    const refs = rows.map(({ digest }) => `${told.dataset}/attr/rows/id/${digest}`)
    assert.deepEqual(await readRefs(refs), ROWS)
    const examples = named('Evaluation.predictAndScore').map(({ inputs }) => inputs['example'])
    assert.deepEqual([...examples].sort(), [...refs].sort())
  })

  it('names its evaluation, whose dataset, scorers and ops are read back', async () => {
    const [evaluation] = (await readRefs([root().inputs['self']])) as readonly [JsonObject]
    assert.equal(evaluation['dataset'], told.dataset)
    const scorers = evaluation['scorers'] as readonly string[]
    assert.deepEqual(
      scorers,
      ['exact', 'judged'].map((op) => named(op)[0]!.op_name),
    )
    const read = await readRefs([...scorers, evaluation['evaluate'], root().inputs['model']])
    for (const val of read) assert.deepEqual((val as { weave_type: unknown }).weave_type, { type: 'Op' })
    const { objs } = await sdk.answered<{ objs: readonly JsonObject[] }>('/objs/query', {
      project_id: PROJECT,
      filter: { is_op: false },
    })
    assert.deepEqual(
      objs
        .map(({ object_id, base_object_class, version_index }) => [
          object_id,
          base_object_class,
          version_index,
        ])
        .sort(),
      [
        ['capitals', 'Dataset', 0],
        ['on-capitals', 'Evaluation', 0],
      ],
    )
  })

  it('had no request refused for good', () => assertNoneRefused(sdk.proxy))
})

interface SentItem {
  readonly req: { readonly start?: { readonly id: string; readonly parent_id?: string } }
}
