import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWebhookSender } from '../../../src/composition/webhook-sender.js'
import { readConfig } from '../../../src/config.js'
import { certificateAuthority } from '../../support/certificates.js'
import { answers } from '../../support/receivers/behaviours.js'
import { startReceiver } from '../../support/receivers/receiver.js'

describe('the sender that the operator configured', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tallytree-ca-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  const open = (variables: Record<string, string>, address?: string) =>
    openWebhookSender(readConfig(variables), () => address)
  const message = { headers: {}, body: Buffer.from('{}'), timeoutMs: 10_000 }

  it('reaches what is allowed, trusts the authorities of the file, and never calls the service itself', async () => {
    const authorities = [certificateAuthority('First'), certificateAuthority('Second')]
    const TALLYTREE_WEBHOOK_CA_FILE = join(directory, 'two.pem')
    await writeFile(TALLYTREE_WEBHOOK_CA_FILE, authorities.map(({ cert }) => `# one\n${cert}`).join('\n'))
    for (const authority of authorities) {
      const tls = authority.certifies({ hosts: ['127.0.0.1'] })
      const receiver = await startReceiver(answers(200), { tls })
      const send = (address: string) => {
        const allowed = { TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', TALLYTREE_WEBHOOK_CA_FILE }
        return open(allowed, address).send({ ...message, url: receiver.url })
      }
      assert.equal((await send('http://127.0.0.1:4600')).status, 200)
      for (const own of ['127.0.0.1', '0.0.0.0', '[::]'])
        assert.deepEqual((await send(`http://${own}:${receiver.port}`)).error, {
          kind: 'forbidden-address',
          rule: 'own_address',
        })
      await receiver.stop()
    }
    assert.deepEqual((await open({}).send({ ...message, url: 'http://127.0.0.1/' })).error, {
      kind: 'forbidden-address',
      rule: 'private_network',
    })
  })

  it('is not opened with a file that holds no certificate, or a broken one', async () => {
    const file = join(directory, 'bad.pem')
    const { cert } = certificateAuthority()
    for (const text of ['', 'certificate', cert.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA')]) {
      await writeFile(file, text)
      assert.throws(
        () => open({ TALLYTREE_WEBHOOK_CA_FILE: file }),
        /TALLYTREE_WEBHOOK_CA_FILE: must be a PEM file/,
      )
    }
    assert.throws(() => open({ TALLYTREE_WEBHOOK_CA_FILE: join(directory, 'none') }), /CA_FILE: .*ENOENT/)
  })
})
