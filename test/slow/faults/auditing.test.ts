import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { digestedModels } from '../../../src/projections/audit/models.js'
import { begin, tallytree } from '../../support/command.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

describe('an auditor', () => {
  let service: RunningService
  let directory: string
  let copied: string
  const key = () => ({ TALLYTREE_API_KEY: service.key })

  before(async () => {
    service = await startRunningService()
    directory = await mkdtemp(join(tmpdir(), 'tallytree-auditing-'))
    copied = join(directory, 'copy')
  })
  after(async () => {
    await service.remove()
    await rm(directory, { recursive: true, force: true })
  })

  /** Stands for a whole number that no double holds. */
  const WIDE = '1700000000000000123'

  const write = async (path: string, body: unknown) => {
    const answer = await service.post(path, JSON.stringify(body).replaceAll(`"${WIDE}"`, WIDE))
    assert.equal(answer.status, 200, answer.text)
  }

  const callsOf = (round: number, size = 10) =>
    Array.from({ length: 50 }, (_, at) => ({
      project_id: 'team/audited',
      id: `call-${round}-${at}`,
      trace_id: `trace-${round}`,
      op_name: 'op',
      started_at: '2026-01-01T12:00:00Z',
      ended_at: '2026-01-01T12:00:01Z',
      attributes: {},
      inputs: { text: 'x'.repeat(size), ns: WIDE },
      output: round,
      summary: { usage: { model: { requests: 1, prompt_tokens: at } } },
    }))

  const traffic = async (round: number) => {
    await write('/v2/team/audited/calls/complete', { batch: callsOf(round) })
    await write('/call/update', {
      project_id: 'team/audited',
      call_id: `call-${round}-1`,
      display_name: `name ${round}`,
    })
    await write('/obj/create', {
      obj: {
        project_id: 'team/audited',
        object_id: 'thing',
        val: { round, ns: WIDE, large: 'y'.repeat(300_000) },
      },
    })
    await write('/table/create', {
      table: { project_id: 'team/audited', rows: [{ round, ns: WIDE }, { same: true }] },
    })
    await write('/feedback/create', {
      project_id: 'team/audited',
      weave_ref: `weave:///team/audited/call/call-${round}-1`,
      feedback_type: 'custom',
      payload: { round, ns: WIDE },
    })
    await write('/calls/delete', { project_id: 'team/audited', call_ids: [`call-${round}-2`] })
  }

  const verified = async (...args: readonly string[]) => tallytree(['verify', copied, ...args], key())

  it('copies the log of a running service while it is written to, and finds all equal', async () => {
    for (let round = 0; round < 5; round += 1) await traffic(round)
    const stopping = new AbortController()
    const writing = (async () => {
      for (let round = 5; !stopping.signal.aborted; round += 1) await traffic(round)
    })()

    const replayed = await tallytree(['replay', '--from', service.address, '--to', copied], key())
    stopping.abort()
    await writing

    const beyondProgress = replayed.stderr.replaceAll(/^copying: .*\n/gm, '')
    assert.deepEqual({ code: replayed.code, stderr: beyondProgress }, { code: 0, stderr: '' })
    const { code, stdout, stderr } = await verified()
    assert.equal(code, 0, stdout + stderr)
    const equal = Array.from(stdout.matchAll(/^(\w+) +\d+ rows .* equal$/gm), ([, model]) => model)
    assert.deepEqual(equal, [...digestedModels.map(({ table }) => table), 'usage_totals'], stdout)
    assert.match(stdout, /^verified \d+ events: all equal\n$/m)
  })

  it('goes on with the copy later, and compares it with the running service', async () => {
    const replayed = await tallytree(['replay', '--from', service.address, '--to', copied], key())
    assert.equal(replayed.code, 0, replayed.stderr)
    const { code, stdout, stderr } = await verified('--against', service.address)
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /all equal/)
  })

  it('is told of the way by URL where a service runs on the directory', async () => {
    const to = join(directory, 'other')
    const { code, stderr } = await tallytree(['replay', '--from', service.dataDirectory, '--to', to])
    assert.equal(code, 2)
    assert.match(stderr, /^tallytree: a running service uses .*--from http:\/\/127\.0\.0\.1:4600\n$/)
  })

  it('can kill the copying at any time and take it up again', async () => {
    const to = join(directory, 'killed')
    for (const wait of [400, 700, 1000]) {
      const { child, ended } = await begin(['replay', '--from', service.address, '--to', to], key())
      setTimeout(() => child.kill('SIGKILL'), wait)
      await ended
    }
    const replayed = await tallytree(['replay', '--from', service.address, '--to', to], key())
    assert.equal(replayed.code, 0, replayed.stderr)
    const { code, stdout, stderr } = await tallytree(['verify', to])
    assert.equal(code, 0, stdout + stderr)
  })

  it('is told what was changed in a copy', async () => {
    const tampering: readonly (readonly [string, RegExp])[] = [
      [
        `UPDATE events SET data = replace(data, '"output":3', '"output":4') WHERE type = 'CallEnded'`,
        /^position \d+: stream ".*": it is not as it was written$/m,
      ],
      ["UPDATE events SET metadata = '{}' WHERE position = 2", /the log differs from the copied one/],
      [
        "UPDATE events SET data = '{' WHERE position = 2",
        /^position 2: stream .*: it is not as it was written/m,
      ],
      [
        "UPDATE events SET type = 'Nothing' WHERE position = 3",
        /^position 3: stream .*: it is not as it was written/m,
      ],
      [
        'UPDATE events SET revision = revision + 100 WHERE position = 3',
        /^position 3: stream .* has revision/m,
      ],
    ]
    for (const [statement, finding] of tampering) {
      const before = new Database(join(copied, 'events.db'))
      const rows = before.prepare('SELECT * FROM events').raw().all()
      before.exec(statement)
      before.close()

      const { code, stdout } = await verified()

      assert.equal(code, 1, statement)
      assert.match(stdout, finding)
      const again = new Database(join(copied, 'events.db'))
      again.exec('DELETE FROM events')
      const insert = again.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
      for (const row of rows) insert.run(...(row as unknown[]))
      again.close()
    }
    assert.equal((await verified()).code, 0)
  })

  it('does not overwrite another log', async () => {
    const other = await startRunningService()
    try {
      const { code, stderr } = await tallytree(['replay', '--from', other.address, '--to', copied], {
        TALLYTREE_API_KEY: other.key,
      })
      assert.equal(code, 2)
      assert.match(stderr, /contains another log/)
    } finally {
      await other.remove()
    }
  })

  it('copies the directory of a stopped service, and the copy can be served', async () => {
    const digests = async (at: string) => (await service.send('GET', `/api/admin/digests?at=${at}`)).json()
    const { position } = (await service.send('GET', '/api/admin/digests')).json<{ position: string }>()
    const said = await digests(position)
    await service.stop()
    const to = join(directory, 'stopped')
    const replayed = await tallytree(['replay', '--to', to], { TALLYTREE_DATA_DIR: service.dataDirectory })
    assert.equal(replayed.code, 0, replayed.stderr)
    const { code, stdout } = await tallytree(['verify', to])
    assert.equal(code, 0, stdout)
    assert.match(stdout, /no digests of read models to compare with/)

    await service.restart({ TALLYTREE_DATA_DIR: to })

    assert.deepEqual(await digests(position), said)
  })

  it('is told how to call what cannot be called so', async () => {
    for (const args of [
      [],
      ['replay'],
      ['verify'],
      ['verify', 'a', 'b'],
      ['replay', '--to', 'x', '--upto', 'y'],
    ]) {
      const { code, stderr } = await tallytree(args)
      assert.equal(code, 2)
      assert.match(stderr, /^usage: tallytree/)
    }
    for (const asking of ['help', '--help', '-h']) {
      const { code, stdout } = await tallytree([asking])
      assert.equal(code, 0)
      assert.match(stdout, /^usage: tallytree/)
    }
    const { code, stderr } = await tallytree(['verify', join(directory, 'nowhere')])
    assert.equal(code, 2)
    assert.match(stderr, /does not contain a log/)
  })
})
