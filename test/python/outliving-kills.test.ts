import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { COUNTS } from '../counts.js'
import { until } from '../support/until.js'
import { startPythonSdk, wandbVersions } from './python-sdk.js'

describe('a program that logs with the package wandb', () => {
  it('loses nothing and doubles nothing when the service is killed or starts again', async () => {
    const sdk = await startPythonSdk({}, `.venv-wandb-${wandbVersions[0]!}`)
    const scratch = await mkdtemp(join(tmpdir(), 'tallytree-outliving-'))
    try {
      const { service } = sdk
      const over = join(scratch, 'over')
      const logging = sdk.printed<{ rows: number; versions: readonly string[] }>('logging_until.py', [
        'outliving',
        over,
      ])
      const ended = logging.then(
        () => true,
        () => true,
      )
      const isOver = () => Promise.race([ended, sleep(0, false)])
      const storedVersions = async () => {
        const stored = await service.send('GET', '/api/artifacts/default/outliving/data/versions?limit=1000')
        return stored.status === 200 ? (stored.json()['data'] as readonly unknown[]).length : 0
      }
      await until(async () => (await isOver()) || (await storedVersions()) > 0)
      for (let round = 0; round < COUNTS.wandbKills && !(await isOver()); round += 1) {
        await sleep(700 + 137 * (round % 9))
        await (round % 5 === 4 ? service.stop() : service.kill('SIGKILL'))
        await service.restart()
      }
      await until(async () => (await isOver()) || (await storedVersions()) > COUNTS.wandbKills)
      await writeFile(over, '')
      const { rows, versions } = await logging
      assert.ok(rows > 0 && versions.length > COUNTS.wandbKills, `${rows} rows, ${versions.length} versions`)
      assert.deepEqual(
        versions,
        versions.map((_, at) => `v${at}`),
      )

      const run = await sdk.got('/api/runs/default/outliving/long')
      assert.deepEqual([run['state'], run['history_lines']], ['finished', rows])
      const logged: unknown[] = []
      for (let from = 0; from < rows; from += 1000) {
        const page = await sdk.got(
          `/api/runs/default/outliving/long/history?min_step=${from}&max_step=${from + 1000}`,
        )
        for (const row of page['rows'] as readonly JsonObject[]) logged.push(row['row'])
      }
      assert.deepEqual(
        logged,
        Array.from({ length: rows }, (_, row) => row),
      )
      const stored = await sdk.got('/api/artifacts/default/outliving/data/versions?limit=1000')
      const data = stored['data'] as readonly { version: string; aliases: readonly string[] }[]
      assert.deepEqual(
        data.map(({ version, aliases }) => [version, aliases.toSorted()]),
        versions.map((version) => [version, version === versions.at(-1) ? ['latest', 'newest'] : []]),
      )
    } finally {
      await sdk.stop()
      await rm(scratch, { recursive: true, force: true })
    }
  })
})
