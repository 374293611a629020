import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { COUNTS } from '../counts.js'
import { answers } from '../support/receivers/behaviours.js'
import { startReceiver } from '../support/receivers/receiver.js'
import { until } from '../support/until.js'
import { startPythonSdk, wandbVersions } from './python-sdk.js'

/** For messages that should not come. */
const SETTLED_MS = 1000

describe('a long run of the package wandb', () => {
  for (const mode of ['online', 'offline'])
    it(`has every row and fires an automation at the first that passes, ${mode}`, async () => {
      const rows = COUNTS.wandbRows
      const sdk = await startPythonSdk(
        { TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
        `.venv-wandb-${wandbVersions[0]!}`,
      )
      const receiver = await startReceiver(answers(200))
      try {
        await sdk.answered('/api/teams/default/webhooks', { name: 'hook', url: receiver.url })
        await sdk.answered('/api/automations', {
          team: 'default',
          name: 'accurate',
          webhook: 'hook',
          scope: { type: 'project', project: 'long' },
          event: { type: 'RUN_METRIC', metric: 'accuracy', comparison: '$gt', threshold: 0.5 },
          payload: '{"run": "${run_name}", "accuracy": ${metric_value}}',
        })
        await sdk.printed('logging_rows.py', ['long', String(rows), ...(mode === 'offline' ? [mode] : [])])

        const run = await sdk.got('/api/runs/default/long/long')
        assert.deepEqual([run['state'], run['history_lines']], ['finished', rows])
        const last = await sdk.got(`/api/runs/default/long/long/history?min_step=${rows - 1}`)
        const [row] = last['rows'] as readonly JsonObject[]
        assert.deepEqual([row?.['_step'], row?.['loss']], [rows - 1, 1 / rows])
        const version = await sdk.got('/api/artifacts/default/long/data/versions/newest')
        assert.deepEqual(version['metadata'], { rows })

        await until(() => receiver.received.length > 0)
        await sleep(SETTLED_MS)
        const accuracy = (rows / 2 + 1) / rows
        assert.deepEqual(
          receiver.received.map(({ body }) => body.toString()),
          [`{"run": "long", "accuracy": ${accuracy}}`],
        )
      } finally {
        await receiver.stop()
        await sdk.stop()
      }
    })
})
