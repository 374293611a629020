import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tallytree } from '../../support/command.js'
import { eraseInputs } from '../../support/erase-inputs.js'
import { startChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { skip } from '../../support/skipping.js'
import { run } from '../../e2e/run-program.js'

const SOURCE = fileURLToPath(new URL('./sealed-log', import.meta.url))
const GO = ['go', '/usr/local/go/bin/go'].find((name) => spawnSync(name, ['version']).error === undefined)

const stores = {
  SQLite: () => Promise.resolve({ environment: {}, close: () => Promise.resolve() }),
  'an EventStoreDB (a protocol double)': async (directory: string) => {
    const double = await startChildDouble(join(directory, 'log'))
    return { environment: { EVENTSTORE_URL: double.url }, close: () => double.kill() }
  },
}

for (const [kind, openStore] of Object.entries(stores))
  describe(`a verifier with the libraries of others, of a log in ${kind}`, () => {
    let service: RunningService | undefined
    let store: Awaited<ReturnType<typeof openStore>> | undefined
    let directory = ''
    let program: string

    before(async function () {
      if (GO === undefined) return skip(this, 'go is missing')
      directory = await mkdtemp(join(tmpdir(), 'tallytree-sealed-log-'))
      program = join(directory, 'verifier')
      await cp(SOURCE, directory, { recursive: true })
      const built = await run(GO, ['build', '-o', program, '.'], directory, { GOFLAGS: '-mod=mod' })
      if (built.code !== 0) return skip(this, `its packages cannot be built: ${built.stderr.slice(-200)}`)
      store = await openStore(directory)
      service = await startRunningService(store.environment)
    })
    after(async () => {
      await service?.remove()
      await store?.close()
      if (directory !== '') await rm(directory, { recursive: true, force: true })
    })

    const verify = async (...args: readonly string[]) => {
      const { address, key, dataDirectory } = service!
      const { stdout } = await tallytree(['log', 'key'], { TALLYTREE_DATA_DIR: dataDirectory })
      const vkey = stdout.split('\n')[0]!
      const all = ['-url', address, '-key', key, '-vkey', vkey, ...args]
      const ran = await run(program, all, directory, {})
      assert.match(ran.stdout, /[1-9]\d* passed, 0 failed\n$/)
      assert.equal(ran.code, 0)
      return ran.stdout
    }
    const write = async (calls: number) => {
      for (let n = 0; n < calls; n += 100) {
        const items = Array.from({ length: 100 }, (_, at) => ({ start: { id: `${calls}-${n + at}` } }))
        await service!.in('team/sealed').calls.batch(items)
      }
      // A stop seals all.
      await service!.restart()
    }

    it('accepts the log, and that it continues an earlier checkpoint', async () => {
      await write(300)
      await verify('-save', 'earlier')
      await write(700)
      await verify('-old', 'earlier')
    })

    it('accepts it after a kill', async () => {
      await service!.in('team/sealed').calls.start()
      await service!.kill('SIGKILL')
      await service!.restart()
      await verify('-old', 'earlier')
    })

    it('accepts it after an erasure, and a copy of it in another store', async function () {
      if (kind !== 'SQLite') return skip(this, 'events of an EventStoreDB cannot be erased')
      await service!.stop()
      const erased = await eraseInputs(service!.dataDirectory)
      await service!.restart()
      const { dataDirectory } = service!
      assert.match(await verify('-old', 'earlier'), new RegExp(`, ${erased} are erased$`, 'm'))
      const copy = join(directory, 'copy')
      await service!.stop()
      const replayed = await tallytree(['replay', '--from', dataDirectory, '--to', copy])
      assert.equal(replayed.code, 0, replayed.stderr)
      for (const name of ['log-keys', 'log-tree.db']) await cp(join(dataDirectory, name), join(copy, name))
      const original = service!
      service = await startRunningService({
        TALLYTREE_DATA_DIR: copy,
        TALLYTREE_BOOTSTRAP_API_KEY: original.key,
      })
      try {
        assert.match(await verify('-old', 'earlier'), new RegExp(`, ${erased} are erased$`, 'm'))
      } finally {
        await service.remove()
        service = original
      }
    })
  })
