import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { openEventStoreServer } from '../../../src/composition/event-store-server.js'
import { blobsOf } from '../../../src/composition/objects.js'
import { COUNTS } from '../../counts.js'
import { tallytree } from '../../support/command.js'
import { appendEveryEvent, GENERATED_PROJECTS, GENERATED_REBUILD } from '../../support/every-event.js'
import { startChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { skip } from '../../support/skipping.js'
import { until } from '../../support/until.js'
import { run } from '../../e2e/run-program.js'

const SOURCE = fileURLToPath(new URL('./sealed-log', import.meta.url))
const GO = ['go', '/usr/local/go/bin/go'].find((name) => spawnSync(name, ['version']).error === undefined)

const PROJECT = 'team/sealed'
const FINISHED_WITHIN_MS = 1_800_000

const stores = {
  SQLite: () =>
    Promise.resolve({
      environment: {},
      log: (dataDirectory: string) => openSqliteEventStore(join(dataDirectory, 'events.db')),
      close: () => Promise.resolve(),
    }),
  'an EventStoreDB (a protocol double)': async (directory: string) => {
    const double = await startChildDouble(join(directory, 'log'))
    return {
      environment: { EVENTSTORE_URL: double.url },
      log: () => openEventStoreServer(double.url),
      close: () => double.kill(),
    }
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

    const verify = async (of: RunningService, ...args: readonly string[]) => {
      const { address, key, dataDirectory } = of
      const { stdout } = await tallytree(['log', 'key'], { TALLYTREE_DATA_DIR: dataDirectory })
      const vkey = stdout.split('\n')[0]!
      const all = ['-url', address, '-key', key, '-vkey', vkey, ...args]
      const ran = await run(program, all, directory, {})
      assert.match(ran.stdout, /[1-9]\d* passed, 0 failed\n$/)
      assert.equal(ran.code, 0)
      return ran.stdout
    }
    /** Through the service, with contents that are files. */
    const writeCalls = async (count: number) => {
      for (let n = 0; n < count; n += 100) {
        const items = Array.from({ length: 100 }, (_, at) => ({
          start: { id: `${count}-${n + at}`, inputs: { text: at === 0 ? 'long'.repeat(100_000) : `${at}` } },
        }))
        assert.equal((await service!.in(PROJECT).calls.batch(items)).status, 200)
      }
    }
    const finished = async (path: string) => {
      await until(async () => {
        const answer = await service!.send('GET', path)
        assert.equal(answer.status, 200, answer.text)
        const { state } = answer.json()
        assert.notEqual(state, 'failed')
        return state === 'finished'
      }, FINISHED_WITHIN_MS)
    }
    /** Size and root of the latest checkpoint. */
    const rootOf = async (of: RunningService) =>
      (await of.send('GET', '/api/log/checkpoint')).text.split('\n').slice(1, 3)

    it(`accepts a log of ${COUNTS.sealedEvents} events with every type`, async () => {
      await service!.stop()
      const log = await store!.log(service!.dataDirectory)
      try {
        await appendEveryEvent(log, await blobsOf(null, service!.dataDirectory), COUNTS.sealedEvents)
      } finally {
        await log.close()
      }
      await service!.restart()
      await writeCalls(300)
      // A stop seals all.
      await service!.restart()
      await verify(service!, '-save', 'earlier')
    })

    it('accepts that a longer log continues it', async () => {
      await writeCalls(700)
      await service!.restart()
      await verify(service!, '-old', 'earlier')
    })

    it('accepts it after a kill', async () => {
      await service!.in(PROJECT).calls.start()
      await service!.kill('SIGKILL')
      await service!.restart()
      await verify(service!, '-old', 'earlier')
    })

    it('accepts it after a rebuild', async () => {
      await finished(`/api/admin/rebuilds/${GENERATED_REBUILD}`)
      const { id } = (await service!.post('/api/admin/rebuilds', undefined)).json<{ id: string }>()
      await finished(`/api/admin/rebuilds/${id}`)
      await verify(service!, '-old', 'earlier')
    })

    it('accepts it after erasures', async function () {
      if (kind !== 'SQLite') return skip(this, 'events of an EventStoreDB cannot be erased')
      for (const project of [PROJECT, GENERATED_PROJECTS[0]]) {
        const erasures = `/api/projects/${project}/erasures`
        const request = { selection: { filter: {} }, reason: 'a test' }
        const answer = await service!.post(erasures, request)
        assert.equal(answer.status, 200, answer.text)
        await finished(`${erasures}/${answer.json<{ erasure: { id: string } }>().erasure.id}`)
      }
      await service!.restart()
      assert.match(await verify(service!, '-old', 'earlier'), /, [1-9]\d* are erased$/m)
    })

    /** Copies the log with `replay`, serves the copy, and checks that it has the same root. */
    const checkCopy = async (
      to: string,
      environment: Readonly<Record<string, string>>,
      withKeys: boolean,
    ) => {
      const { address, key, dataDirectory } = service!
      const [size, root] = await rootOf(service!)
      const copied = { ...environment, TALLYTREE_API_KEY: key }
      const replayed = await tallytree(['replay', '--from', address, '--to', to], copied)
      assert.equal(replayed.code, 0, replayed.stderr)
      const { TALLYTREE_DATA_DIR: directoryOfCopy = '' } = environment
      if (to === directoryOfCopy) {
        const verified = await tallytree(['verify', to, '--checkpoint', join(directory, 'earlier')])
        assert.equal(verified.code, 0, verified.stdout.slice(0, 2000) + verified.stderr.slice(-2000))
      }
      if (withKeys)
        for (const name of ['log-keys', 'log-tree.db'])
          await cp(join(dataDirectory, name), join(directoryOfCopy, name))
      const copy = await startRunningService({ ...environment, TALLYTREE_BOOTSTRAP_API_KEY: key })
      try {
        await copy.restart()
        assert.deepEqual(await rootOf(copy), [size, root])
        await verify(copy, ...(withKeys ? ['-old', 'earlier'] : []))
      } finally {
        await copy.remove()
      }
    }

    it('accepts a copy of it in a directory, with the same root', async () => {
      const copy = join(directory, 'copy')
      await checkCopy(copy, { TALLYTREE_DATA_DIR: copy }, kind === 'SQLite')
    })

    it('accepts a copy of it in an EventStoreDB, with the same root', async () => {
      const other = await startChildDouble(join(directory, 'other-log'))
      try {
        const environment = { TALLYTREE_DATA_DIR: join(directory, 'other'), EVENTSTORE_URL: other.url }
        await checkCopy(other.url, environment, false)
      } finally {
        await other.kill()
      }
    })
  })
