import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { tallytree } from '../support/command.js'
import { startRunningService, type RunningService } from '../support/running-service.js'

describe('tallytree keys issue', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const issuing = (...args: readonly string[]) =>
    tallytree(['keys', 'issue', ...args], { TALLYTREE_DATA_DIR: service.dataDirectory })
  const userOf = async (key: string) => {
    const { status, json } = await service.send('GET', '/api/users/me', undefined, { key })
    return [status, json()['user']]
  }

  it('is refused while the service runs', async () => {
    const { code, stderr } = await issuing()
    assert.equal(code, 2)
    assert.match(stderr, /^tallytree: another Tallytree process .* stop it/)
  })

  it('makes a key for the administrator, or for a user who is named, beside those that they have', async () => {
    await service.teams.create('red')
    await service.post('/api/teams/red/members', { user: 'ada', role: 'member' })
    await service.stop()
    const keys: string[] = []
    for (const [user, args] of [
      ['admin', []],
      ['ada', ['ada']],
    ] as const) {
      const { code, stdout, stderr } = await issuing(...args)
      assert.equal(code, 0, stderr)
      const [, key] = new RegExp(`^API key of ${user} \\(shown this once\\): (\\S+)\\n$`).exec(stdout) ?? []
      keys.push(key!)
    }
    const unknown = await issuing('eve')
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [2, 'tallytree: cannot issue a key for eve: User not found.\n'],
    )

    await service.restart()

    assert.deepEqual(await Promise.all([...keys, service.key].map(userOf)), [
      [200, 'admin'],
      [200, 'ada'],
      [200, 'admin'],
    ])
  })

  it('says where there is no log', async () => {
    const { code, stderr } = await tallytree(['keys', 'issue'], { TALLYTREE_DATA_DIR: tmpdir() })
    assert.equal(code, 2)
    assert.match(stderr, /does not contain a log/)
  })
})
