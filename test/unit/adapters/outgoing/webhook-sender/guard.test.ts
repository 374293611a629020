import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { dialling, type Dial } from '../../../../../src/adapters/outgoing/guard/connect-to-any.js'
import {
  webhookSender,
  type ClosableWebhookSender,
  type WebhookSenderOptions,
} from '../../../../../src/adapters/outgoing/webhook-sender/webhook-sender.js'
import type { AddressRule, SendResult } from '../../../../../src/kernel/ports/webhook-sender.js'
import { answers, answersAndCloses, redirects } from '../../../../support/receivers/behaviours.js'
import { startNameServer, type NameServer } from '../../../../support/receivers/name-server.js'
import { startReceiver, type Receiver } from '../../../../support/receivers/receiver.js'

const NOTHING = { dns: null, connect: null, tls: null, first_byte: null, total: 0 }

const RULES: readonly AddressRule[] = [
  'url',
  'port',
  'private_network',
  'metadata',
  'own_address',
  'reserved',
]

describe('where a webhook may lead', () => {
  let names: NameServer
  let receiver: Receiver
  let directory: string
  let dialled: string[]
  const senders: ClosableWebhookSender[] = []
  before(async () => {
    names = await startNameServer()
    directory = await mkdtemp(join(tmpdir(), 'tallytree-hosts-'))
  })
  after(async () => {
    await names.stop()
    await rm(directory, { recursive: true, force: true })
  })
  beforeEach(async () => {
    dialled = []
    receiver = await startReceiver(answers(200))
  })
  afterEach(async () => {
    for (const sender of senders.splice(0)) sender.close()
    await receiver.stop()
  })

  /** Stands below the guard: notes who would be called, and calls nobody. */
  const noting: Dial = (address, port) => {
    dialled.push(`${address} ${port}`)
    return new Socket().destroy(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  }
  /** Calls whoever it is told to, which tests do for loopback addresses alone. */
  const notingAndDialling: Dial = (address, port) => {
    dialled.push(`${address} ${port}`)
    assert.match(address, /^127\./)
    return dialling(address, port)
  }
  const senderWith = (options: WebhookSenderOptions): ClosableWebhookSender => {
    const hostsFile = join(directory, 'none')
    const sender = webhookSender({ dial: noting, names: { servers: [names.address], hostsFile }, ...options })
    senders.push(sender)
    return sender
  }
  const sendTo = (url: string, options: WebhookSenderOptions = {}): Promise<SendResult> =>
    post(senderWith(options), url)
  const post = (sender: ClosableWebhookSender, url: string): Promise<SendResult> =>
    sender.send({ url, headers: {}, body: Buffer.from('{}'), timeoutMs: 60_000 })

  const assertRefused = (
    sent: SendResult,
    kind: 'forbidden-address' | 'forbidden-name',
    what: string,
    rules: readonly AddressRule[] = RULES,
  ): void => {
    const { error } = sent
    assert.ok(error?.kind === kind && rules.includes(error.rule), `${what}: ${JSON.stringify(error)}`)
    assert.deepEqual(
      { dialled, phases: sent.phases, peer: sent.peer },
      { dialled: [], phases: NOTHING, peer: null },
    )
  }

  const SPELLINGS_OF_LOOPBACK =
    '127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001 127.0.0.1. %31%32%37.0.0.1 ' +
    '１２７.０.０.１ 127。0。0。1 ①②⑦.0.0.1 127.255.255.254 [::1] [0:0::0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] ' +
    '[::127.0.0.1] [::7f00:1] [::ffff:0:7f00:1] [64:ff9b::127.0.0.1] [64:ff9b:1::7f00:1] [2002:7f00:1::]'
  const PRIVATE =
    '10.0.0.1 10.1 172.16.0.1 172.31.255.255 192.168.0.1 3232235521 100.64.0.1 100.127.255.254 [fc00::1] [fd12:3456::1] ' +
    '[fe80::1] [fec0::1] [::ffff:10.0.0.1] [64:ff9b::a00:1] [2002:a00:1::1]'
  const NOBODYS =
    '0.0.0.0 0 0.1.2.3 [::] 192.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 198.18.0.1 224.0.0.1 ' +
    '239.255.255.255 240.0.0.1 255.255.255.255 [ff02::1] [100::1] [2001::1] [2001:db8::1] [3fff::1] [4000::1] [5f00::1]'
  const METADATA =
    '169.254.169.254 2852039166 0xa9fea9fe 0251.0376.0251.0376 169.254.43518 168.63.129.16 100.100.100.200 ' +
    '169.254.170.2 [fd00:ec2::254] [fd20:ce::254] [::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe] [::a9fe:a9fe] ' +
    '[2002:a9fe:a9fe::1]'

  it('is no address of this machine, of a private network or of nobody, however it is spelt', async () => {
    for (const [hosts, rules] of [
      [SPELLINGS_OF_LOOPBACK, ['private_network', 'reserved']],
      [PRIVATE, ['private_network', 'reserved']],
      [NOBODYS, ['private_network', 'reserved']],
      [METADATA, ['metadata']],
    ] as const)
      for (const host of hosts.split(' '))
        for (const url of [`http://${host}/`, `https://${host}:8443/hook`])
          assertRefused(await sendTo(url), 'forbidden-address', url, rules)
    assert.deepEqual(names.asked, [])
  })

  it('is neither a metadata service nor nobody, even where all is allowed', async () => {
    const allowed = { cidrs: ['0.0.0.0/0', '::/0'], hosts: ['metadata.test', '169.254.169.254'] }
    for (const host of [...METADATA.split(' '), '0.0.0.0', '[::]', '255.255.255.255', '224.0.0.1'])
      assertRefused(await sendTo(`http://${host}/`, { allowed }), 'forbidden-address', host)
    for (const address of ['169.254.169.254', 'fd00:ec2::254', '64:ff9b::a9fe:a9fe']) {
      names.answer('metadata.test', [address])
      assertRefused(await sendTo('http://metadata.test/', { allowed }), 'forbidden-name', address)
    }
  })

  it('refuses IPv4 addresses inside IPv6 that are in a never allowed range, even where all is allowed', async () => {
    const allowed = { cidrs: ['0.0.0.0/0', '::/0'] }
    const refused =
      // NAT64, at the well-known prefix and in the layouts that the local-use prefix may have
      '[64:ff9b::169.254.170.2] [64:ff9b::169.254.170.23] [64:ff9b::168.63.129.16] [64:ff9b::100.100.100.200] ' +
      '[64:ff9b::0.0.0.0] [64:ff9b::0.1.2.3] [64:ff9b::224.0.0.1] [64:ff9b::255.255.255.255] ' +
      '[64:ff9b:1::168.63.129.16] [64:ff9b:1::224.0.0.1] [64:ff9b:1::] [64:ff9b:1:2:3::169.254.170.2] ' +
      '[64:ff9b:1:a9fe:a9:fe00::] [64:ff9b:1:a9:fe:a9fe::] [64:ff9b:1:0:a9:fea9:fe00:0] ' +
      // 6to4, Teredo (server and client), IPv4-translated, IPv4-compatible, IPv4-mapped
      '[2002:a83f:8110::1] [2002:a9fe:aa02::] [2002:6464:64c8::] [2002:e000:1::] [2002:0:1::] [2002:ffff:ffff::] ' +
      '[2001:0:a83f:8110::] [2001:0:808:808::5601:55fd] [2001:0:808:808::57c0:7eef] ' +
      '[::ffff:0:168.63.129.16] [::ffff:0:224.0.0.1] [::168.63.129.16] [::224.0.0.1] [::0.1.2.3] ' +
      '[::ffff:169.254.170.2] [::ffff:0.0.0.0] ' +
      // a NAT64 prefix of the network itself, which may be any
      '[2600:1:2:3::169.254.170.2] [fd00::168.63.129.16]'
    for (const host of refused.split(' '))
      assertRefused(await sendTo(`http://${host}/`, { allowed }), 'forbidden-address', host)
    const reached =
      '[64:ff9b::8.8.8.8] [64:ff9b:1::8.8.8.8] [64:ff9b:1:808:8:800::] [2002:808:808::1] [2001:0:808:808::f7f7:f7f7] ' +
      '[::8.8.8.8] [::1] [fd00::1] [2600::e000:1] [64:ff9b::127.0.0.1]'
    for (const host of reached.split(' ')) await sendTo(`http://${host}/`, { allowed })
    assert.equal(dialled.length, reached.split(' ').length)
  })

  it('is nothing but HTTP without a user', async () => {
    const urls = [
      'ftp://8.8.8.8/',
      'file:///etc/passwd',
      'gopher://8.8.8.8/',
      'unix:/run/docker.sock',
      'http://unix:/run/docker.sock:/x',
      '//8.8.8.8/',
    ]
    for (const url of [
      ...urls,
      'http://',
      'http://user:word@8.8.8.8/',
      'http://user@8.8.8.8/',
      '',
      'http://[::1',
    ])
      assertRefused(await sendTo(url), 'forbidden-address', url)
  })

  it('is no port of a service that a POST can hurt, unless the operator names host and port', async () => {
    for (const port of [0, 22, 25, 53, 465, 587, 2375, 6379])
      assertRefused(
        await sendTo(`http://8.8.8.8:${port}/`, { allowed: { cidrs: ['8.8.8.8/32'], hosts: ['8.8.8.8'] } }),
        'forbidden-address',
        String(port),
        ['port'],
      )
    await sendTo('http://8.8.8.8:25/', { allowed: { hosts: ['8.8.8.8:25'] } })
    assert.deepEqual(dialled, ['8.8.8.8 25'])
  })

  it('is any public address', async () => {
    for (const url of ['http://8.8.8.8/', 'https://[2606:4700:4700::1111]/', 'http://0x08080808:8080/'])
      assert.deepEqual((await sendTo(url)).error, { kind: 'connect', code: 'ECONNREFUSED' })
    assert.deepEqual(dialled, ['8.8.8.8 80', '2606:4700:4700::1111 443', '8.8.8.8 8080'])
  })

  it('is no name of which any address is refused, be the others as they may', async () => {
    const answered = [
      ['10.0.0.1'],
      ['8.8.8.8', '10.0.0.1'],
      ['8.8.8.8', '::1'],
      ['2606:4700:4700::1111', '127.0.0.1'],
    ]
    for (const addresses of [...answered, ['::ffff:a00:1'], ['64:ff9b::a00:1'], ['0.0.0.0']]) {
      names.answer('mixed.test', addresses)
      assertRefused(await sendTo('http://mixed.test/'), 'forbidden-name', addresses.join())
    }
    names.answer('public.test', ['8.8.8.8', '2606:4700:4700::1111', '8.8.4.4'])
    assert.deepEqual((await sendTo('http://Public.Test./')).error, { kind: 'connect', code: 'ECONNREFUSED' })
    assert.deepEqual(dialled, ['2606:4700:4700::1111 80', '8.8.8.8 80', '8.8.4.4 80'])
  })

  it('is not this machine by name, whoever would answer for it', async () => {
    names.answer('localhost', ['8.8.8.8'])
    for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'deep.localhost'])
      assertRefused(await sendTo(`http://${host}/`), 'forbidden-name', host)
  })

  it('is what the hosts file says', async () => {
    const hostsFile = join(directory, 'hosts')
    await writeFile(
      hostsFile,
      '# comment\n10.0.0.7\tinside.test other.test # more\n::1 both.test\n8.8.8.8 BOTH.test\n',
    )
    const options = { names: { servers: [names.address], hostsFile } }
    for (const host of ['inside.test', 'other.test', 'both.test'])
      assertRefused(await sendTo(`http://${host}/`, options), 'forbidden-name', host)
    await sendTo('http://inside.test/', { ...options, allowed: { cidrs: ['10.0.0.0/24'] } })
    assert.deepEqual(dialled, ['10.0.0.7 80'])
  })

  it('is a private network or host that the operator allows, and no more', async () => {
    names.answer('inside.test', ['10.1.2.3', 'fd00::1'])
    const allowed = { cidrs: ['10.0.0.0/8', 'fd00::/64'] }
    await sendTo('http://10.1.2.3/', { allowed })
    await sendTo('http://[fd00::1]/', { allowed })
    await sendTo('http://inside.test/', { allowed })
    await sendTo('http://inside.test/', { allowed: { hosts: ['INSIDE.test'] } })
    await sendTo('http://[fd00::2]:8080/', { allowed: { hosts: ['[fd00::2]:8080'] } })
    assert.equal(dialled.length, 7)
    dialled = []
    assertRefused(await sendTo('http://11.0.0.1.localhost/', { allowed }), 'forbidden-name', 'another')
    assertRefused(await sendTo('http://172.16.0.1/', { allowed }), 'forbidden-address', 'another')
    assertRefused(await sendTo('http://[fd00:0:0:1::1]/', { allowed }), 'forbidden-address', 'another')
  })

  it('is never the service itself', async () => {
    names.answer('own.test', ['127.0.0.1'])
    const allowed = { cidrs: ['0.0.0.0/0', '::/0'], hosts: ['own.test:4600'] }
    const own = (address: string) => ({ allowed, listening: () => ({ address, port: 4600 }) })
    for (const url of ['http://127.0.0.1:4600/', 'http://[::ffff:127.0.0.1]:4600/'])
      assertRefused(await sendTo(url, own('127.0.0.1')), 'forbidden-address', url)
    for (const url of ['http://own.test:4600/', 'http://localhost:4600/'])
      assertRefused(await sendTo(url, own('127.0.0.1')), 'forbidden-name', url)
    const here = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)
    for (const everywhere of ['0.0.0.0', '::'])
      for (const { address, family } of [...here, { address: '127.0.0.9', family: 'IPv4' }]) {
        if (address.startsWith('fe80')) continue
        const url = `http://${family === 'IPv6' ? `[${address}]` : address}:4600/`
        assertRefused(await sendTo(url, own(everywhere)), 'forbidden-address', url)
      }
    for (const url of ['http://[64:ff9b::127.0.0.1]:4600/', 'http://[2002:7f00:1::]:4600/'])
      assertRefused(await sendTo(url, own('0.0.0.0')), 'forbidden-address', url)
    await sendTo('http://127.0.0.1:4601/', own('0.0.0.0'))
    assert.deepEqual(dialled, ['127.0.0.1 4601'])
  })

  it('is looked up once for each connection, and a name that changes its mind is asked no more', async () => {
    names.answer('flip.test', (before) => (before === 0 ? ['127.0.0.1'] : ['127.0.0.2']))
    const sender = senderWith({ allowed: { cidrs: ['127.0.0.1/32'] }, dial: notingAndDialling })
    const asked = () => names.asked.filter((question) => question === 'A flip.test').length
    const url = `http://flip.test:${receiver.port}/`

    assert.equal((await post(sender, url)).status, 200)
    assert.deepEqual({ asked: asked(), dialled }, { asked: 1, dialled: [`127.0.0.1 ${receiver.port}`] })
    receiver.behave(answersAndCloses(200))
    assert.equal((await post(sender, url)).status, 200, 'on the connection that was guarded when it was made')
    assert.deepEqual({ asked: asked(), connections: receiver.connections() }, { asked: 1, connections: 1 })

    assert.deepEqual((await post(sender, url)).error, { kind: 'forbidden-name', rule: 'private_network' })
    assert.deepEqual({ asked: asked(), dialled }, { asked: 2, dialled: [`127.0.0.1 ${receiver.port}`] })
  })

  it('is seen by who is at the other end, whatever was dialled', async () => {
    names.answer('elsewhere.test', ['8.8.8.8'])
    const elsewhere: Dial = () => dialling('127.0.0.1', receiver.port)
    for (const [host, kind] of [
      ['elsewhere.test', 'forbidden-name'],
      ['8.8.8.8', 'forbidden-address'],
    ] as const) {
      const sent = await sendTo(`http://${host}/`, { dial: elsewhere })
      assert.deepEqual(
        { error: sent.error, peer: sent.peer },
        { error: { kind, rule: 'private_network' }, peer: null },
      )
    }
    assert.equal(receiver.bytes().length, 0)
  })

  it('is where the webhook says, never where its receiver points', async () => {
    const target = await startReceiver(answers(200))
    const sender = senderWith({ allowed: { cidrs: ['127.0.0.0/8'] }, dial: notingAndDialling })
    for (const status of [300, 301, 302, 303, 307, 308])
      for (const location of [target.url, 'http://public.test/', 'http://169.254.169.254/']) {
        receiver.behave(redirects(status, location))
        const { status: seen, headers, error } = await post(sender, receiver.url)
        assert.deepEqual([seen, headers['location'], error], [status, location, null])
      }
    assert.equal(target.connections(), 0)
    assert.ok(dialled.every((address) => address === `127.0.0.1 ${receiver.port}`))
    await target.stop()
  })
})
