import assert from 'node:assert/strict'
import { startPythonSdk, wandbVersions } from './python-sdk.js'

interface Read {
  readonly fork: readonly (readonly [number, number])[]
  readonly forkByKeys: readonly (readonly [number, number])[]
  readonly forkSampled: readonly number[]
  readonly lastStep: number
  readonly synchronised: readonly (readonly (readonly [number, number])[])[]
  readonly systemRows: number
  readonly systemMetrics: number
  readonly console: readonly (readonly [string, string])[] | null
  readonly missing: string
}

describe('the history of runs of the package wandb', () => {
  for (const version of wandbVersions)
    it(`is one after two synchronisations, is continued by forks, and has what machines log, with ${version}`, async () => {
      const sdk = await startPythonSdk({}, `.venv-wandb-${version}`)
      try {
        const read = await sdk.printed<Read>('logging_history.py', ['history'])
        const inherited = [0, 1, 2, 3, 4, 5].map((step) => [step, step])
        const forked = [...inherited, [6, 60], [7, 61]]
        assert.deepEqual(read.fork, forked)
        assert.deepEqual(read.forkByKeys, forked)
        assert.deepEqual(
          read.forkSampled,
          forked.map(([, v]) => v),
        )
        assert.equal(read.lastStep, 7)
        const once = [0, 1, 2, 3, 4].map((step) => [step, step])
        assert.deepEqual(read.synchronised, [once, once])
        assert.ok(read.systemRows > 0 && read.systemMetrics > 0)
        if (read.console !== null)
          assert.deepEqual(read.console, [
            ['', 'printed'],
            ['error', 'failed'],
          ])
        assert.match(read.missing, /not found/)
      } finally {
        await sdk.stop()
      }
    })
})
