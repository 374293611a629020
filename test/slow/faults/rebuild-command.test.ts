import assert from 'node:assert/strict'
import { tallytree } from '../../support/command.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

/** Once it says how far it is, and at no later moment. */
const KILLED_BY_ITS_FIRST_WORD =
  "--import=data:text/javascript,import{writeSync}from'node:fs';" +
  'process.stderr.write=(word)=>{writeSync(2,word);process.kill(process.pid,9)}'

describe('tallytree rebuild', () => {
  let service: RunningService
  before(async () => {
    service = await startRunningService()
    await service.in('default/p').calls.start({ id: 'c' }).json()
  })
  after(() => service.remove())

  const port = () => new URL(service.address).port

  const states = async () => {
    const { data } = (await service.send('GET', '/api/admin/rebuilds')).json<{ data: { state: string }[] }>()
    return data.map(({ state }) => state)
  }

  it('goes through a running service, with the administrator key', async () => {
    const { code, stdout, stderr } = await tallytree(['rebuild', '--url', service.address], {
      TALLYTREE_API_KEY: service.key,
    })

    assert.equal(code, 0, stderr)
    assert.match(stdout, /^rebuilt: \d+ events$/m)
  })

  it('says what it needs, and that a key is not the administrator', async () => {
    const without = await tallytree(['rebuild', '--url', service.address], { TALLYTREE_API_KEY: '' })
    assert.equal(without.code, 2)
    assert.match(without.stderr, /TALLYTREE_API_KEY must be set/)

    const wrong = await tallytree(['rebuild', '--url', service.address], { TALLYTREE_API_KEY: 'another' })
    assert.equal(wrong.code, 2)
    assert.match(wrong.stderr, /answered 401/)
  })

  it('goes on, when it is run again, with what a killed one began', async () => {
    assert.equal(await service.stop(), 0)
    const settings = { TALLYTREE_DATA_DIR: service.dataDirectory, TALLYTREE_PORT: port() }
    const killed = await tallytree(['rebuild'], { ...settings, NODE_OPTIONS: KILLED_BY_ITS_FIRST_WORD })
    assert.equal(killed.code, null)
    assert.match(killed.stderr, /^\w+: \d+ events/)

    const { code, stdout, stderr } = await tallytree(['rebuild'], settings)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^rebuilt: \d+ events$/m)
    await service.restart()
    assert.deepEqual(await states(), ['finished', 'finished'])
  })

  it('runs by itself while the service is stopped, on the same stores', async () => {
    assert.equal(await service.stop(), 0)

    const { code, stdout, stderr } = await tallytree(['rebuild'], {
      TALLYTREE_DATA_DIR: service.dataDirectory,
      TALLYTREE_PORT: port(),
    })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^rebuilt: \d+ events$/m)

    await service.restart()
    assert.deepEqual(await states(), ['finished', 'finished', 'finished'])
    const read = await service.post('/call/read', { project_id: 'default/p', id: 'c' })
    assert.equal(read.status, 200)
  })
})
