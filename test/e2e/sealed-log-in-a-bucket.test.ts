import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openNote, parseCheckpoint, parseVerifierKey } from '../../src/kernel/tlog/note.js'
import { tallytree } from '../support/command.js'
import { startChildDouble, type ChildDouble } from '../support/eventstoredb-protocol-double/child.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { startS3Double, type S3Double } from '../support/s3-double.js'
import { scratchDirectory } from '../support/scratch.js'
import { until } from '../support/until.js'
import { run } from './run-program.js'

const VERIFIER = fileURLToPath(new URL('../../bin/verify-log.mjs', import.meta.url))
const MASTER_KEYS = `one:${randomBytes(32).toString('base64')}`
const PROJECT = 'team/sealed'

/** The directory of the service is lost at each start. */
describe('the signed tree of a log in a bucket', () => {
  let s3: S3Double
  let log: ChildDouble
  let service: RunningService
  let scratch: string
  let environment: Record<string, string>
  let verifier: string
  before(async () => {
    scratch = await scratchDirectory()
    s3 = await startS3Double()
    log = await startChildDouble(join(scratch, 'double.log'))
    environment = {
      EVENTSTORE_URL: log.url,
      TALLYTREE_OBJECTS_URL: s3.url,
      TALLYTREE_MASTER_KEYS: MASTER_KEYS,
      TALLYTREE_BOOTSTRAP_API_KEY: 'administrator-key-of-the-tests',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
    }
    service = await startRunningService(environment)
  })
  after(async () => {
    await service.remove()
    await log.kill()
    await s3.stop()
  })

  const at = (name: string) => join(scratch, name)
  const command = (...args: readonly string[]) =>
    tallytree(args, { ...environment, TALLYTREE_API_KEY: service.key })
  const textAt = async (path: string) => (await service.send('GET', path)).text
  const write = async (count: number) => {
    const items = Array.from({ length: count }, (_, n) => ({ start: { id: `${count}-${n}` } }))
    assert.equal((await service.in(PROJECT).calls.batch(items)).status, 200)
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
  const lose = async () => {
    await service.kill('SIGKILL')
    await rm(service.dataDirectory, { recursive: true, force: true })
    await mkdir(service.dataDirectory)
  }
  const checked = async (...args: readonly string[]) => {
    const { code, stderr } = await run(
      process.execPath,
      [VERIFIER, '--verifier', verifier, ...args],
      scratch,
      { TALLYTREE_API_KEY: service.key },
    )
    assert.deepEqual([code, stderr], [0, ''])
  }

  it('continues after a start with an empty directory, and nothing of it is in the directory', async () => {
    await write(300)
    await writeFile(at('earlier.txt'), await sealed())
    verifier = (await command('log', 'key')).stdout.split('\n')[0]!
    assert.match(service.output(), new RegExp(`log\\.signed_by.*${verifier.slice(0, 20)}`))
    await lose()
    await service.restart()
    await write(320)
    await writeFile(at('checkpoint.txt'), await sealed())
    await checked('--url', service.address, '--checkpoint', 'earlier.txt')
    const { data } = JSON.parse(await textAt('/api/log/checkpoints')) as { data: { size: number }[] }
    assert.ok(data.length > 0)
    const files = await readdir(service.dataDirectory)
    assert.deepEqual(
      files.filter((name) => name.startsWith('log-')),
      [],
    )
  })

  it('proves an event by a command', async () => {
    const { id, stream } = JSON.parse((await textAt('/api/events')).split('\n')[50]!) as Record<
      string,
      string
    >
    const proved = await command('log', 'prove', id!, '--stream', stream!, '--url', service.address)
    await writeFile(at('proof'), proved.stdout)
    const { code, stdout } = await command('log', 'check', at('proof'), '--verifier', verifier)
    assert.equal(code, 0)
    assert.match(stdout, /^event 50 of \d+ in localhost\/log\/\w+/)
  })

  it('signs with a new key at once after a rotation', async () => {
    const { code, stdout } = await command('log', 'rotate-key')
    assert.equal(code, 0)
    const [added] = stdout.split('\n').filter((line) => line.startsWith('localhost/log/'))
    await write(5)
    const signed = openNote(await sealed(), [parseVerifierKey(added!)])
    assert.equal(signed.signatures.length, 1)
    await checked('--url', service.address, '--checkpoint', 'earlier.txt')
  })

  it('is the same in a copy of the log of a stopped service', async () => {
    const { size, root } = parseCheckpoint(await sealed())
    await service.stop()
    const replayed = await command('replay', '--from', log.url, '--to', at('copy'), '--objects', s3.url)
    assert.deepEqual([replayed.code, replayed.stderr.includes('salts')], [0, false], replayed.stderr)
    const verified = await command(
      'verify',
      at('copy'),
      '--checkpoint',
      at('earlier.txt'),
      '--verifier',
      verifier,
    )
    assert.equal(verified.code, 0, verified.stdout + verified.stderr)
    assert.ok(verified.stdout.includes(`tree of ${size} events: root ${root.toString('base64')}`))
    await service.restart()
  })

  it('does not start on another log, until a new log names the old checkpoint', async () => {
    await service.stop()
    const other = await startChildDouble(at('other.log'))
    const onOther = { EVENTSTORE_URL: other.url }
    await assert.rejects(
      service.restart(onOther),
      /the event log has 0 events, but the tree in the bucket has/,
    )
    const begun = await command('log', 'new-origin')
    assert.equal(begun.code, 0, begun.stderr)
    await service.restart(onOther)
    await write(7)
    const { origin } = parseCheckpoint(await sealed())
    const { previous } = JSON.parse(await textAt('/api/log/checkpoints')) as { previous: string }
    assert.ok(begun.stdout.includes(previous))
    assert.notEqual(parseCheckpoint(previous).origin, origin)
    assert.equal(
      parseCheckpoint(previous).origin,
      parseCheckpoint(await readFile(at('earlier.txt'), 'utf8')).origin,
    )
    await service.stop()
    await other.kill()
  })
})
