import assert from 'node:assert/strict'
import { resolving } from '../../../../../src/adapters/outgoing/guard/resolve.js'
import { startNameServer, type NameServer } from '../../../../support/receivers/name-server.js'
import { until } from '../../../../support/until.js'

describe('looking up a name', () => {
  let names: NameServer
  beforeEach(async () => {
    names = await startNameServer()
  })
  afterEach(() => names.stop())

  const lookUp = (name: string, signal = new AbortController().signal) =>
    resolving({ servers: [names.address], hostsFile: '/nowhere' })(name, signal)

  it('gives the addresses of both kinds, asked once for each', async () => {
    names.answer('both.test', ['10.0.0.1', 'fd00::1', '10.0.0.2'])
    assert.deepEqual([...(await lookUp('both.test'))].sort(), ['10.0.0.1', '10.0.0.2', 'fd00::1'])
    assert.deepEqual([...names.asked].sort(), ['A both.test', 'AAAA both.test'])
  })

  it('does with one kind where there is no answer for the other', async () => {
    for (const other of ['silence', 'SERVFAIL', 'NXDOMAIN'] as const) {
      names.answer('four.test', (_, type) => (type === 'A' ? ['10.0.0.1'] : other))
      assert.deepEqual(await lookUp('four.test'), ['10.0.0.1'], other)
      names.answer('six.test', (_, type) => (type === 'AAAA' ? ['fd00::1'] : other))
      assert.deepEqual(await lookUp('six.test'), ['fd00::1'], other)
    }
  })

  it('adds no domain to a name that is not found', async () => {
    await assert.rejects(lookUp('single'), { code: 'ENOTFOUND' })
    assert.deepEqual([...names.asked].sort(), ['A single', 'AAAA single'])
  })

  it('is not held up by many names that nobody answers for, and takes its questions back', async () => {
    names.answer('silent.test', 'silence')
    names.answer('quick.test', ['10.0.0.1'])
    const stopping = new AbortController()
    const hanging = Array.from({ length: 50 }, () =>
      lookUp('silent.test', AbortSignal.any([stopping.signal])).catch(
        (error: unknown) => (error as NodeJS.ErrnoException).code,
      ),
    )
    await until(() => names.asked.length >= 100)
    assert.deepEqual(await lookUp('quick.test'), ['10.0.0.1'])
    stopping.abort()
    assert.deepEqual(new Set(await Promise.all(hanging)), new Set(['ECANCELLED']))
  })
})
