import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { parseCheckpoint } from '../../src/kernel/tlog/note.js'
import { tallytree } from '../support/command.js'
import { eraseInputs } from '../support/erase-inputs.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { until } from '../support/until.js'
import { run } from './run-program.js'

const VERIFIER = fileURLToPath(new URL('../../bin/verify-log.mjs', import.meta.url))

describe('the signed tree of a log', () => {
  let service: RunningService
  let scratch: string
  let verifier: string
  before(async () => {
    service = await startRunningService()
    scratch = await mkdtemp(join(tmpdir(), 'tallytree-sealed-'))
    await write(40)
    const { stdout } = await tallytree(['log', 'key'], { TALLYTREE_DATA_DIR: service.dataDirectory })
    verifier = stdout.split('\n')[0]!
    await writeFile(at('earlier.txt'), await sealed())
    await write(300)
    await writeFile(at('checkpoint.txt'), await sealed())
  })
  after(async () => {
    await service.remove()
    await rm(scratch, { recursive: true, force: true })
  })

  const at = (name: string) => join(scratch, name)
  const textAt = async (path: string) => (await service.send('GET', path)).text
  const write = async (count: number) => {
    const items = Array.from({ length: count }, (_, n) => ({ start: { id: `${count}-${n}` } }))
    assert.equal((await service.in('team/sealed').calls.batch(items)).status, 200)
  }
  /** A checkpoint that covers all events. */
  const sealed = async () => {
    const events = (await textAt('/api/events')).split('\n').length - 1
    let text = ''
    await until(async () => {
      const answer = await service.send('GET', '/api/log/checkpoint')
      text = answer.text
      return answer.status === 200 && parseCheckpoint(text).size >= events
    })
    return text
  }
  const verifying = (...args: readonly string[]) =>
    run(process.execPath, [VERIFIER, '--verifier', verifier, ...args], scratch, {
      TALLYTREE_API_KEY: service.key,
    })

  it('is checked by one file without packages, from a service, a file of events, and a proof', async () => {
    await writeFile(at('events.jsonl'), await textAt('/api/events?seal=true'))
    const events = (await readFile(at('events.jsonl'), 'utf8')).split('\n')
    const { id } = JSON.parse(events[7]!) as { id: string }
    await writeFile(at('proof'), await textAt(`/api/log/proof?event=${id}`))
    for (const args of [
      ['--url', service.address, '--checkpoint', 'earlier.txt'],
      ['--events', 'events.jsonl', '--checkpoint', 'checkpoint.txt', '--checkpoint', 'earlier.txt'],
      ['--proof', 'proof'],
    ])
      assert.deepEqual(await verifying(...args).then(({ code, stderr }) => [code, stderr]), [0, ''])

    const changed = events.with(30, events[30]!.replace('"data":{', '"data":{"x":1,'))
    await writeFile(at('changed.jsonl'), changed.join('\n'))
    await writeFile(at('lost.jsonl'), events.toSpliced(30, 1).join('\n'))
    for (const file of ['changed.jsonl', 'lost.jsonl']) {
      const { code, stderr } = await verifying('--events', file, '--checkpoint', 'earlier.txt')
      assert.equal(code, 1)
      assert.match(stderr, /^verification failed: the first \d+ events are not those that were signed/)
    }
    await writeFile(at('proof'), (await readFile(at('proof'), 'utf8')).replace('index 7', 'index 8'))
    assert.equal((await verifying('--proof', 'proof')).code, 1)
  })

  it('proves an event by a command, which another command checks without the service', async () => {
    const { id, stream } = JSON.parse((await textAt('/api/events')).split('\n')[50]!) as Record<
      string,
      string
    >
    const environment = { TALLYTREE_API_KEY: service.key }
    const prove = (event: string) =>
      tallytree(['log', 'prove', event, '--stream', stream!, '--url', service.address], environment)
    const proof = (await prove(id!)).stdout
    await writeFile(at('proof'), proof)
    const checked = await tallytree(['log', 'check', at('proof'), '--verifier', verifier])
    assert.equal(checked.code, 0, checked.stderr)
    assert.match(checked.stdout, new RegExp(`^event 50 of \\d+ in localhost/log/\\w+: .*${id!}`))
    await writeFile(at('proof'), proof.replace('index 50', 'index 51'))
    assert.equal((await tallytree(['log', 'check', at('proof'), '--verifier', verifier])).code, 1)
    assert.equal((await prove('unknown')).code, 2)
  })

  it('is the same in a copy, which is verified with an earlier checkpoint; a changed event is named', async () => {
    const copy = at('copy')
    const environment = { TALLYTREE_API_KEY: service.key }
    const replayed = await tallytree(['replay', '--from', service.address, '--to', copy], environment)
    assert.deepEqual([replayed.code, replayed.stderr.includes('salts')], [0, false], replayed.stderr)
    const { root, size } = parseCheckpoint(await sealed())
    const verify = () =>
      tallytree(['verify', copy, '--checkpoint', at('earlier.txt'), '--verifier', verifier])
    const verified = await verify()
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
    assert.match(verified.stdout, /^tree of (\d+) events: root (\S+), [2-9]\d* checkpoints compared$/m)
    const copied = await tallytree(['verify', service.dataDirectory])
    assert.match(copied.stderr, /another Tallytree process/)
    if (verified.stdout.includes(`tree of ${size} events`))
      assert.ok(verified.stdout.includes(root.toString('base64')))

    const db = new Database(join(copy, 'events.db'))
    db.exec("UPDATE events SET type = 'CallEnded' WHERE position = 60")
    db.close()
    const differs = await verify()
    assert.equal(differs.code, 1)
    // Of the first checkpoint that differs, which may also be a copied one.
    assert.match(differs.stdout, /the first (\d+) events are not those of the [^;\n]+ of \1 events/)
  })

  it('stays the same when events are erased, also in a copy over HTTP and in one of the files', async () => {
    await service.stop()
    const erased = await eraseInputs(service.dataDirectory)
    assert.ok(erased > 100)
    const verified = await tallytree(['verify', service.dataDirectory, '--checkpoint', at('checkpoint.txt')])
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
    assert.match(verified.stdout, new RegExp(`checkpoints compared, ${erased} events erased$`, 'm'))
    const root = /root \S+/.exec(verified.stdout)![0]
    const environment = { TALLYTREE_API_KEY: service.key }
    const copied = async (from: string, name: string) => {
      const replayed = await tallytree(['replay', '--from', from, '--to', at(name)], environment)
      assert.deepEqual([replayed.code, replayed.stderr.includes('salts')], [0, false], replayed.stderr)
      return (await tallytree(['verify', at(name)])).stdout
    }
    const ofFiles = await copied(service.dataDirectory, 'erased-files')
    assert.ok(ofFiles.includes(root) && ofFiles.includes(`${erased} events erased`), ofFiles)

    await service.restart()
    const checked = await verifying('--url', service.address, '--checkpoint', 'earlier.txt')
    assert.equal(checked.code, 0, checked.stderr)
    assert.match(checked.stdout, new RegExp(`but the data of ${erased} was erased$`, 'm'))
    const lines = (await textAt('/api/events?seal=true')).trimEnd().split('\n')
    const erasedLines = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line['erased'])
    assert.equal(erasedLines.length, erased)
    assert.ok(erasedLines.every(({ salt, content }) => salt === undefined && typeof content === 'string'))
    const overHttp = await copied(service.address, 'erased-http')
    assert.match(overHttp, new RegExp(`${erased} events erased$`, 'm'))
    const again = await copied(service.address, 'erased-http')
    assert.match(again, new RegExp(`${erased} events erased$`, 'm'))
  })

  it('does not start on a log that is behind what was signed, until a new log names the old checkpoint', async () => {
    await service.stop()
    const path = join(service.dataDirectory, 'events.db')
    await cp(path, at('older.db'))
    await service.restart()
    await write(20)
    await sealed()
    await service.stop()
    const verified = await tallytree(['verify', service.dataDirectory])
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
    await rename(at('older.db'), path)
    const behind = await tallytree(['verify', service.dataDirectory])
    assert.equal(behind.code, 1)
    assert.match(behind.stdout, /but there is the checkpoint of \d+ events: its end is missing/)

    await assert.rejects(service.restart(), /the event log has \d+ events, but log-tree.db has \d+ leaves/)
    const begun = await tallytree(['log', 'new-origin'], { TALLYTREE_DATA_DIR: service.dataDirectory })
    assert.equal(begun.code, 0, begun.stderr)
    await service.restart()
    const { origin } = parseCheckpoint(await sealed())
    const { previous } = JSON.parse(await textAt('/api/log/checkpoints')) as { previous: string }
    assert.ok(begun.stdout.includes(previous))
    assert.notEqual(parseCheckpoint(previous).origin, origin)
  })

  it('is not made again where it was lost', async () => {
    await service.stop()
    await rename(join(service.dataDirectory, 'log-tree.db'), at('log-tree.db'))
    await assert.rejects(service.restart(), /log-tree\.db is missing, but there is/)
    await rename(at('log-tree.db'), join(service.dataDirectory, 'log-tree.db'))
    await rename(join(service.dataDirectory, 'log-keys'), at('log-keys'))
    await assert.rejects(service.restart(), /log-keys is missing, but there is/)
    await rename(at('log-keys'), join(service.dataDirectory, 'log-keys'))
    await service.restart()
  })
})
