import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { itWith } from '../support/skipping.js'
import { CURL_ONCE_READABLE, pageOf } from './pages.js'
import { run } from './run-program.js'

const [, ...pasted] = pageOf('first-evaluation.md')('sh')

/** Statuses are asked for until the runs are complete: a reader does so by hand. */
const POST_UNTIL_COMPLETE = `post_once() {
  curl -sS -u "api:$TALLYTREE_API_KEY" -H 'Content-Type: application/json' -d "$2" "$TALLYTREE_URL$1" && echo
}
post() {
  local answer; answer=$(post_once "$@")
  for try in $(seq 600); do
    [[ $answer == *'"code":"running"'* ]] || break
    sleep 0.1; answer=$(post_once "$@")
  done
  echo "$answer"
}`

interface Status {
  readonly code: string
  readonly output: {
    readonly exact: { readonly exact_match: { readonly true_fraction: number } }
    readonly distance: { readonly edit_distance: { readonly mean: number } }
  }
  readonly warnings: readonly string[]
}

interface Comparison {
  readonly scores: readonly {
    readonly scorer: string
    readonly path: readonly string[]
    readonly differences: readonly { readonly wins: number; readonly losses: number; readonly ties: number }[]
  }[]
}

describe('the page on the first evaluation', () => {
  let service: RunningService
  before(async () => void (service = await startRunningService()))
  after(() => service.remove())

  const paste = async (): Promise<readonly JsonObject[]> => {
    const [definition, ...commands] = pasted
    const script = [CURL_ONCE_READABLE, definition, POST_UNTIL_COMPLETE, ...commands].join('\n')
    const ran = await run('bash', ['-euo', 'pipefail', '-c', script], tmpdir(), {
      TALLYTREE_URL: service.address,
      TALLYTREE_API_KEY: service.key,
    })
    assert.deepEqual({ code: ran.code, stderr: ran.stderr }, { code: 0, stderr: '' })
    return ran.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject)
  }

  it('has ten commands', () => {
    const requests = pasted
      .slice(1)
      .join('\n')
      .match(/^post |\$\(post /gm)
    assert.equal(requests?.length, 10)
  })

  itWith('curl')('compares two rescored runs, when pasted and when pasted again', async () => {
    for (const time of ['first', 'second']) {
      const answers = await paste()
      assert.deepEqual(answers.slice(0, 2), [{}, {}])
      const [small, large, comparison, results] = answers.slice(4)
      assert.deepEqual(
        [small, large].map((answer) => {
          const { code, output, warnings } = answer!['status'] as unknown as Status
          return [code, output.exact.exact_match.true_fraction, output.distance.edit_distance.mean, warnings]
        }),
        [
          ['complete', 1 / 3, 8 / 3, []],
          ['complete', 2 / 3, 1 / 3, []],
        ],
      )
      const { scores } = comparison as unknown as Comparison
      const differences = scores.map(({ scorer, path, differences: [difference] }) => {
        const { wins, losses, ties } = difference!
        return [scorer, ...path, wins, losses, ties]
      })
      assert.deepEqual(differences, [
        ['distance', 'edit_distance', 2, 0, 1],
        ['distance', 'similarity', 2, 0, 1],
        ['exact', 'exact_match', 1, 0, 2],
      ])
      assert.equal(results!['total_rows'], 3, time)
    }
  })
})
