import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/domain/json/json.js'
import { assertNoneRefused, opOf, type Call } from '../e2e/sdk-service.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const PROJECT = 'team/rescoring'
/** The answer of the model of `evaluating.py`, and the expected one, by country; it fails on Atlantis. */
const ANSWERS: Readonly<Record<string, readonly [answer: string, expected: string]>> = {
  France: ['Paris', 'Paris'],
  Japan: ['Kyoto', 'Tokyo'],
  Peru: ['Lima', 'Lima'],
  Kenya: ['Nairobi', 'Nairobi'],
}

const distanceOf = (a: string, b: string): number => {
  if (a === '' || b === '') return a.length + b.length
  if (a.at(-1) === b.at(-1)) return distanceOf(a.slice(0, -1), b.slice(0, -1))
  const shorter = [
    [a.slice(0, -1), b],
    [a, b.slice(0, -1)],
    [a.slice(0, -1), b.slice(0, -1)],
  ] as const
  return 1 + Math.min(...shorter.map(([one, other]) => distanceOf(one, other)))
}

interface Printed {
  readonly run: string
  readonly status: {
    readonly code: string
    readonly output: JsonObject
    readonly warnings: readonly string[]
  }
}

describe('a rescore of a run of the Python package, requested by the package', () => {
  let sdk: PythonSdk
  let source: string
  let scorers: readonly string[]
  let printed: Printed
  let calls: readonly Call[]
  before(async () => {
    sdk = await startPythonSdk()
    const evaluated = await sdk.printed<{ run: string; evaluation: string }>('evaluating.py', [PROJECT])
    source = evaluated.run
    const { vals } = await sdk.answered<{ vals: readonly [{ scorers: readonly string[] }] }>(
      '/refs/read_batch',
      { refs: [evaluated.evaluation] },
    )
    scorers = vals[0].scorers
    printed = await sdk.printed('rescoring.py', [PROJECT, source, scorers[1]!])
    calls = await sdk.callsOf(PROJECT)
  })
  after(() => sdk.stop())

  const rowsOf = async (run: string): Promise<ReadonlyMap<string, JsonObject>> => {
    const rows = calls.filter(
      (call) => call.parent_id === run && opOf(call).startsWith('Evaluation.predict_and_score'),
    )
    const { vals } = await sdk.answered<{ vals: readonly { country: string }[] }>('/refs/read_batch', {
      refs: rows.map(({ inputs }) => inputs['example']!),
    })
    return new Map(rows.map(({ output }, n) => [vals[n]!.country, output as JsonObject]))
  }

  it('completes with a summary of each scorer that runs in the service', () => {
    const { code, output } = printed.status
    assert.equal(code, 'complete', JSON.stringify(printed.status))
    const scored = Object.values(ANSWERS)
    const exact = scored.filter(([answer, expected]) => answer === expected).length
    const distances = scored.map(([answer, expected]) => distanceOf(answer, expected))
    const summary = output as Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
    assert.deepEqual(
      [
        summary['exact-match']?.['exact_match']?.['true_count'],
        summary['exact-match']?.['exact_match']?.['true_fraction'],
        summary['distance']?.['edit_distance']?.['mean'],
      ],
      [exact, exact / scored.length, distances.reduce((sum, distance) => sum + distance, 0) / scored.length],
    )
  })

  it('warns of the scorer whose code it cannot run, and of the failed prediction', () => {
    const [code, failed, ...more] = printed.status.warnings
    assert.match(code!, /^scorer Length gave no score for 4 of 5 rows/)
    assert.match(failed!, /^1 of 5 predictions were not scored/)
    assert.deepEqual(more, [])
  })

  it('has the answers of the source with the scores of the new scorers', async () => {
    const [before, after] = [await rowsOf(source), await rowsOf(printed.run)]
    assert.deepEqual([...after.keys()].sort(), [...before.keys()].sort())
    for (const [country, { output, scores }] of after) {
      assert.deepEqual(output, before.get(country)!['output'], country)
      const [answer, expected] = ANSWERS[country] ?? []
      const found = scores as Readonly<Record<string, Json>>
      if (answer === undefined || expected === undefined) continue
      assert.deepEqual(
        [
          (found['exact-match'] as JsonObject)['exact_match'],
          (found['distance'] as JsonObject)['edit_distance'],
          found['Length'] ?? null,
        ],
        [answer === expected, distanceOf(answer, expected), null],
      )
    }
  })

  it('had no request refused', () => assertNoneRefused(sdk.proxy))
})
