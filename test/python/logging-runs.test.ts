import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { answers } from '../support/receivers/behaviours.js'
import { until } from '../support/until.js'
import { startReceiver } from '../support/receivers/receiver.js'
import { startPythonSdk, wandbVersions } from './python-sdk.js'

/** For messages that should not come. */
const SETTLED_MS = 1000

interface Read {
  readonly version: string
  readonly steps: readonly number[]
}

describe('the package wandb', () => {
  for (const version of wandbVersions)
    it(`${version} logs runs and artifacts, reads them back, and causes each message once`, async () => {
      const sdk = await startPythonSdk(
        { TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
        `.venv-wandb-${version}`,
      )
      const receiver = await startReceiver(answers(200))
      try {
        const made = (path: string, body: object) => sdk.answered(path, body)
        await made('/api/registries', { name: 'shelf', team: 'default' })
        await made('/api/teams/default/webhooks', { name: 'hook', url: receiver.url })
        const automate = (name: string, scope: object, event: object, payload: string, more: object = {}) =>
          made('/api/automations', {
            team: 'default',
            name,
            webhook: 'hook',
            scope,
            event,
            payload: `{"is": "${name}", ${payload}}`,
            ...more,
          })
        const project = { type: 'project', project: 'pictures' }
        const alias = { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '^(best|prod)$' }
        await automate('alias', project, alias, '"acc": ${artifact_metadata.acc}')
        await automate('tag', project, { type: 'ADD_ARTIFACT_TAG' }, '"tag": "${tag}"')
        await automate(
          'link',
          { type: 'registry', registry: 'shelf' },
          { type: 'LINK_ARTIFACT' },
          '"to": "${artifact_collection_name}"',
        )
        const metric = { type: 'RUN_METRIC', metric: 'acc', comparison: '$gte', threshold: 0.9 }
        await automate('metric', project, metric, '"run": "${run_name}", "value": ${metric_value}')
        await automate(
          'nested',
          project,
          { ...metric, metric: 'nested.x', threshold: 10 },
          '"value": ${metric_value}',
        )
        await automate('state', project, { type: 'RUN_STATE', states: ['FAILED'] }, '"run": "${run_name}"')

        const { steps, ...read } = await sdk.printed<Read>('logging_runs.py', ['pictures', 'shelf'])
        assert.deepEqual(steps, [...Array.from({ length: 50 }, (_, at) => 2 * at), 200, 201])
        assert.deepEqual(read, {
          version,
          run: ['train-1', 'finished', 0.1, true, 0.98],
          nan: true,
          last: 7,
          file: 'saved',
          failed: ['bad'],
          left: ['maker', 'train-1'],
          found: ['train-1'],
          versions: ['v0', 'v0', 'v1', 'v2'],
          downloaded: { 'a.txt': 'hello', 'sub/ü %.txt': '' },
          draft: ['a.txt'],
          prod: ['v1', ['good'], 0.5],
          champion: ['v0', true, { 'a.txt': 'hello', 'sub/ü %.txt': '' }],
          used_by: ['maker'],
          made_by: 'maker',
          listed: ['v2', 'v1', 'v0'],
          projects: ['other', 'pictures'],
          refused: [true, true],
          absent: false,
        })
        await until(() => receiver.received.length >= 8)
        await setTimeout(SETTLED_MS)
        const bodies = receiver.received.map(({ body }) => body.toString())
        assert.deepEqual(bodies.toSorted(), [
          '{"is": "alias", "acc": null}',
          '{"is": "alias", "acc": null}',
          '{"is": "link", "to": "models"}',
          '{"is": "metric", "run": "bad", "value": 0.99}',
          '{"is": "metric", "run": "train-1", "value": 0.9}',
          '{"is": "nested", "value": 10}',
          '{"is": "state", "run": "bad"}',
          '{"is": "tag", "tag": "good"}',
        ])
      } finally {
        await receiver.stop()
        await sdk.stop()
      }
    })
})
