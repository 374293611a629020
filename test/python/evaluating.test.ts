import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'
import { assertNoneRefused, opOf, type Call } from '../e2e/sdk-service.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const PROJECT = 'team/evaluating'
const ROWS = [
  { country: 'France', capital: 'Paris' },
  { country: 'Japan', capital: 'Tokyo' },
  { country: 'Atlantis', capital: 'none' },
  { country: 'Peru', capital: 'Lima' },
  { country: 'Kenya', capital: 'Nairobi' },
]
/** What the model of `evaluating.py` answers and the scores of it, by country; it fails on Atlantis. */
const SCORED: Readonly<Record<string, { readonly output: Json; readonly scores: JsonObject }>> = {
  France: { output: { text: 'Paris' }, scores: { exact: true, Length: { length: 5, short: true } } },
  Japan: { output: { text: 'Kyoto' }, scores: { exact: false, Length: { length: 5, short: true } } },
  Atlantis: { output: null, scores: {} },
  Peru: { output: { text: 'Lima' }, scores: { exact: true, Length: { length: 4, short: true } } },
  Kenya: { output: { text: 'Nairobi' }, scores: { exact: true, Length: { length: 7, short: false } } },
}

interface Printed {
  readonly summary: JsonObject
  readonly dataset: string
  readonly evaluation: string
  readonly model: string
  readonly run: string
  readonly scores: JsonObject
}

describe('an evaluation by the Python package', () => {
  let sdk: PythonSdk
  let printed: Printed
  let calls: readonly Call[]
  let run: Call
  before(async () => {
    sdk = await startPythonSdk()
    printed = await sdk.printed('evaluating.py', [PROJECT])
    const all = await sdk.callsOf(PROJECT)
    run = all.find(({ id }) => id === printed.run)!
    calls = all.filter(({ trace_id }) => trace_id === run.trace_id)
  })
  after(() => sdk.stop())

  const below = (above: Call) => calls.filter(({ parent_id }) => parent_id === above.id)
  const readRefs = async (refs: readonly Json[]) =>
    (await sdk.answered<{ vals: readonly Json[] }>('/refs/read_batch', { refs })).vals

  /** The calls of the rows, by country. */
  const rows = async (): Promise<ReadonlyMap<string, Call>> => {
    const found = below(run).filter((call) => opOf(call) === 'Evaluation.predict_and_score')
    const examples = await readRefs(found.map(({ inputs }) => inputs['example']!))
    return new Map(found.map((call, n) => [(examples[n] as { country: string }).country, call]))
  }

  it('is one trace of a run, its rows and its summary', async () => {
    assert.deepEqual(
      [opOf(run), run.parent_id, run.display_name, run.exception],
      ['Evaluation.evaluate', null, 'first run', null],
    )
    assert.deepEqual([...(await rows()).keys()].sort(), ROWS.map(({ country }) => country).sort())
    assert.deepEqual(
      below(run)
        .map(opOf)
        .filter((op) => op !== 'Evaluation.predict_and_score'),
      ['Evaluation.summarize'],
    )
    assert.equal(calls.length, 1 + ROWS.length + ROWS.length + 2 * (ROWS.length - 1) + 2)
  })

  it('has rows with the output of the model and the scores', async () => {
    for (const [country, call] of await rows()) {
      const { model_latency, ...output } = call.output as JsonObject
      assert.equal(typeof model_latency, 'number')
      assert.deepEqual(output, SCORED[country], country)

      const steps = new Map(below(call).map((step) => [opOf(step), step]))
      const { output: predicted, scores } = SCORED[country]!
      const prediction = steps.get('Guesser.predict')!
      assert.deepEqual(await readRefs([prediction.inputs['country']!]), [country])
      assert.deepEqual(prediction.output, predicted)
      if (country === 'Atlantis') {
        assert.equal(steps.size, 1)
        const { type, message } = JSON.parse(prediction.exception!) as JsonObject
        assert.deepEqual([type, message], ['ValueError', 'Atlantis is not on the map'])
      } else {
        assert.equal(steps.size, 3)
        assert.deepEqual(
          [steps.get('exact')!.output, steps.get('Length.score')!.output],
          [scores['exact'], scores['Length']],
        )
      }
    }
  })

  it('has its summary as output', () => {
    const { model_latency, ...summary } = run.output as JsonObject
    assert.deepEqual(run.output, printed.summary)
    assert.equal(typeof (model_latency as JsonObject)['mean'], 'number')
    assert.deepEqual(summary, {
      exact: { true_count: 3, true_fraction: 0.6 },
      Length: { length: { mean: 5.25 }, short: { true_count: 3, true_fraction: 0.6 } },
    })
  })

  it('names its evaluation, model, dataset and scorers by references', async () => {
    assert.deepEqual([run.inputs['self'], run.inputs['model']], [printed.evaluation, printed.model])
    const read = await readRefs([printed.evaluation, printed.model, printed.dataset])
    const [evaluation, model, dataset] = read as readonly [JsonObject, JsonObject, { rows: string }]
    assert.deepEqual([evaluation['dataset'], evaluation['trials']], [printed.dataset, 1])
    assert.equal(model['_class_name'], 'Guesser')
    const [, scorer] = (await readRefs(evaluation['scorers'] as readonly string[])) as readonly JsonObject[]
    assert.deepEqual([scorer?.['_class_name'], scorer?.['longest']], ['Length', 5])
    const { rows: stored } = await sdk.answered<{ rows: readonly { val: Json }[] }>('/table/query', {
      project_id: PROJECT,
      digest: dataset.rows.split('/').at(-1)!,
    })
    assert.deepEqual(
      stored.map(({ val }) => val),
      ROWS,
    )
  })

  it('gives each scored prediction its scores as feedback', async () => {
    const { result } = await sdk.answered<{ result: readonly JsonObject[] }>('/feedback/query', {
      project_id: PROJECT,
    })
    for (const [country, row] of await rows()) {
      const { scores } = SCORED[country]!
      const prediction = below(row).find((call) => opOf(call) === 'Guesser.predict')!
      const given = result.filter(
        ({ weave_ref }) => weave_ref === `weave:///${PROJECT}/call/${prediction.id}`,
      )
      assert.deepEqual(
        Object.fromEntries(
          given.map(({ feedback_type, payload }) => [feedback_type, (payload as JsonObject)['output']]),
        ),
        Object.fromEntries(Object.entries(scores).map(([name, score]) => [`wandb.runnable.${name}`, score])),
      )
    }
  })

  it('reads the scores of another run, which tries each row twice', () => {
    const sames = (count: number) => Array.from({ length: 10 }, (_, n) => n >= 10 - count)
    assert.deepEqual(printed.scores, { exact: sames(2), first_letter: sames(2) })
  })

  it('had no request refused', () => assertNoneRefused(sdk.proxy))
})

describe('an evaluation that the Python package logs row by row', () => {
  const project = 'team/logging'
  const LOGGED = [
    { inputs: { a: 1, b: 2 }, output: 3, scores: { correct: true, certainty: 0.5 } },
    { inputs: { a: 3, b: 4 }, output: 7, scores: { correct: true, certainty: 1 } },
    { inputs: { a: 5, b: 6 }, output: 12, scores: { correct: false, certainty: 0.9 } },
  ]
  const SUMMARY = {
    correct: { true_count: 2, true_fraction: 2 / 3 },
    certainty: { mean: 0.8 },
    output: { note: 'two of three' },
  }

  let sdk: PythonSdk
  let calls: readonly Call[]
  let run: Call
  before(async () => {
    sdk = await startPythonSdk()
    const { run: id } = await sdk.printed<{ run: string }>('logging_an_evaluation.py', [project])
    calls = await sdk.callsOf(project)
    run = calls.find((call) => call.id === id)!
  })
  after(() => sdk.stop())

  const below = (above: Call, op?: string) =>
    calls.filter((call) => call.parent_id === above.id && (op === undefined || opOf(call) === op))

  it('has a run with its summary', () => {
    assert.deepEqual([opOf(run), run.display_name], ['Evaluation.evaluate', 'logged run'])
    const rounded = (summary: Json) =>
      JSON.parse(
        JSON.stringify(summary, (_, value: Json) => (typeof value === 'number' ? value.toFixed(9) : value)),
      ) as Json
    assert.deepEqual(rounded(run.output), rounded(SUMMARY))
    assert.equal(below(run, 'Evaluation.summarize').length, 1)
  })

  it('has a row for each prediction, with its scores', () => {
    const rows = below(run, 'Evaluation.predict_and_score')
    assert.deepEqual(
      rows.map(({ inputs, output }) => {
        return { inputs: inputs['example'], ...(output as JsonObject) }
      }),
      LOGGED.map((logged) => ({ ...logged, model_latency: null })),
    )
    for (const [index, row] of rows.entries()) {
      const [prediction] = below(row, 'Model.predict')
      assert.equal(prediction?.output, LOGGED[index]!.output)
    }
  })

  it('had no request refused', () => assertNoneRefused(sdk.proxy))
})
