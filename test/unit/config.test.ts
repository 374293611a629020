import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { readConfig } from '../../src/config.js'
import { newSignerKey } from '../../src/kernel/tlog/note.js'

const SERVERS = { EVENTSTORE_URL: 'esdb://localhost:2113?tls=false', CLICKHOUSE_URL: 'http://localhost:8123' }

describe('the configuration', () => {
  it('is complete with nothing set: everything embedded, every role', () => {
    const { port, roles, eventStoreUrl, clickHouseUrl } = readConfig({})

    assert.deepEqual(
      { port, eventStoreUrl, clickHouseUrl },
      { port: 4600, eventStoreUrl: null, clickHouseUrl: null },
    )
    assert.deepEqual([...roles], ['api', 'projector', 'dispatcher'])
  })

  it('takes how many processes share what limits allow, one where nothing is said', () => {
    assert.equal(readConfig({}).apiProcesses, 1)
    assert.equal(readConfig({ TALLYTREE_API_PROCESSES: '4' }).apiProcesses, 4)
    for (const TALLYTREE_API_PROCESSES of ['0', '-1', '1.5', 'many', '1001'])
      assert.throws(() => readConfig({ TALLYTREE_API_PROCESSES }), /TALLYTREE_API_PROCESSES: must be/)
  })

  it('takes how long a stop may take, at least what is under way has of it', () => {
    assert.equal(readConfig({}).stopSeconds, 10)
    assert.equal(readConfig({ TALLYTREE_STOP_SECONDS: '60' }).stopSeconds, 60)
    for (const TALLYTREE_STOP_SECONDS of ['9', '-1', '10.5', 'long', '3601'])
      assert.throws(() => readConfig({ TALLYTREE_STOP_SECONDS }), /TALLYTREE_STOP_SECONDS: must be/)
  })

  it('means one directory, however its name is written and whoever opens it', () => {
    assert.equal(readConfig({}).dataDirectory, resolve('data'))
    for (const name of [' ', ' data', 'a/../ data'])
      assert.equal(readConfig({ TALLYTREE_DATA_DIR: name }).dataDirectory, resolve(name))
  })

  it('takes roles apart over two servers', () => {
    for (const TALLYTREE_ROLES of ['api', 'projector', 'dispatcher', 'api, dispatcher'])
      assert.deepEqual(
        [...readConfig({ ...SERVERS, TALLYTREE_ROLES }).roles],
        TALLYTREE_ROLES.split(',').map((role) => role.trim()),
      )
  })

  it('takes a ring of master keys, the active one first, in either base64', () => {
    const [standard, urlSafe] = [`${'+/'.repeat(21)}A=`, `${'-_'.repeat(21)}A`]
    const { masterKeys } = readConfig({ TALLYTREE_MASTER_KEYS: ` new:${standard} ,\nold-1:${urlSafe}\n` })
    assert.deepEqual(
      masterKeys.map(({ id, base64 }) => [id, base64]),
      [
        ['new', standard.slice(0, 43)],
        ['old-1', urlSafe],
      ],
    )
    assert.deepEqual(readConfig({}).masterKeys, [])
  })

  it('refuses other rings, and quotes nothing of a key', () => {
    const key = 'SECRETSECRET'.padEnd(43, 'A')
    for (const ring of [
      key,
      `:${key}`,
      `one:${key}A`,
      `one:${key.slice(1)}`,
      `one:${key},one:${key}`,
      `one:${key},`,
      `a.b:${key}`,
      `one: ${key}`,
      `${'x'.repeat(65)}:${key}`,
    ])
      assert.throws(
        () => readConfig({ TALLYTREE_MASTER_KEYS: ring }),
        ({ message }: Error) =>
          /^TALLYTREE_MASTER_KEYS: must be id:key,id:key/.test(message) && !message.includes('SECRETSECRET'),
      )
  })

  const wrong: readonly (readonly [string, Record<string, string>, RegExp])[] = [
    [
      'a role nobody knows',
      { TALLYTREE_ROLES: 'api,reader' },
      /TALLYTREE_ROLES: must be a comma-separated list of api, projector/,
    ],
    [
      'the role that did nothing',
      { TALLYTREE_ROLES: 'api,worker' },
      /TALLYTREE_ROLES: must be a comma-separated list of api, projector, dispatcher$/,
    ],
    [
      'roles that are only commas',
      { TALLYTREE_ROLES: ',' },
      /TALLYTREE_ROLES: must be a comma-separated list of/,
    ],
    [
      'roles apart over embedded stores',
      { TALLYTREE_ROLES: 'api' },
      /without projector, dispatcher, other processes/,
    ],
    [
      'roles apart over an embedded log',
      { TALLYTREE_ROLES: 'projector', CLICKHOUSE_URL: SERVERS.CLICKHOUSE_URL },
      /set EVENTSTORE_URL and CLICKHOUSE_URL/,
    ],
    [
      'roles apart over an embedded ClickHouse',
      { TALLYTREE_ROLES: 'projector', EVENTSTORE_URL: SERVERS.EVENTSTORE_URL },
      /set EVENTSTORE_URL and CLICKHOUSE_URL/,
    ],
    ['another kind of log', { EVENTSTORE_URL: 'http://localhost' }, /EVENTSTORE_URL/],
    [
      'a port that is none',
      { TALLYTREE_PORT: '65536' },
      /TALLYTREE_PORT: must be a whole number from 0 to 65535/,
    ],
  ]
  for (const [what, variables, says] of wrong)
    it(`refuses ${what}, and says what to do`, () => {
      assert.throws(() => readConfig(variables), { name: 'OperatorError', message: says })
    })

  it('never repeats a password', () => {
    for (const name of ['EVENTSTORE_URL', 'CLICKHOUSE_URL'])
      assert.throws(
        () => readConfig({ [name]: 'ftp://user:secret@host' }),
        (error: Error) => !error.message.includes('secret'),
      )
  })

  const refused = (variables: Record<string, string>, message: RegExp) =>
    assert.throws(() => readConfig(variables), { name: 'OperatorError', message })

  it('names the variable that is wrong and says what it must be, without its password', () => {
    refused({ CLICKHOUSE_URL: 'http://u:hid/den@host:8123' }, /^CLICKHOUSE_URL: (?!.*hid).*%2F/)
    refused({ CLICKHOUSE_URL: 'http://host/a-b' }, /^CLICKHOUSE_URL: the database/)
    for (const name of ['a-b', '1st', 'a b', "a'", 'a;b', 'ä'])
      refused(
        { CLICKHOUSE_URL: 'http://host', CLICKHOUSE_CLUSTER: name },
        /^CLICKHOUSE_CLUSTER: must be letters/,
      )
  })

  it('has no cluster without a server', () => {
    refused({ CLICKHOUSE_CLUSTER: 'main' }, /^CLICKHOUSE_CLUSTER: .*CLICKHOUSE_URL/)
    const config = readConfig({ CLICKHOUSE_URL: 'http://host', CLICKHOUSE_CLUSTER: 'main' })
    assert.equal(config.clickHouseCluster, 'main')
  })

  it('has several hosts of a server only with a cluster', () => {
    const several = { CLICKHOUSE_URL: 'http://u:p,w@a:8123,b:8123/db' }
    refused(several, /^CLICKHOUSE_URL: several hosts need CLICKHOUSE_CLUSTER/)
    assert.ok(readConfig({ ...several, CLICKHOUSE_CLUSTER: 'main' }))
    assert.ok(readConfig({ CLICKHOUSE_URL: 'http://u:p,w@a:8123/db' }))
  })

  it('takes networks and hosts that webhooks may reach, and a vendor that can stand in a header', () => {
    const { vendor, webhooks } = readConfig({
      TALLYTREE_VENDOR: 'Acme-2',
      TALLYTREE_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, fd00::/8',
      TALLYTREE_WEBHOOK_ALLOW_HOSTS: 'hooks.internal,mail.internal:25,[fd00::1]:8080',
    })
    assert.equal(vendor, 'Acme-2')
    assert.deepEqual(webhooks.allowCidrs, ['10.0.0.0/8', 'fd00::/8'])
    assert.deepEqual(webhooks.allowHosts, ['hooks.internal', 'mail.internal:25', '[fd00::1]:8080'])
    assert.equal(readConfig({}).vendor, 'Vendor')
    for (const networks of [
      '10.0.0.0',
      '10.0.0.0/33',
      '010.0.0.0/8',
      '10/8',
      'fd00::/129',
      'inside',
      '10.0.0.0/8,',
    ])
      for (const name of ['TALLYTREE_WEBHOOK_ALLOW_CIDRS', 'TALLYTREE_UPSTREAM_ALLOW_CIDRS'])
        refused({ [name]: networks }, new RegExp(`^${name}: must be a comma-separated list of networks`))
    for (const hosts of ['http://inside', 'inside:', 'inside:0', 'inside:65536', 'a b', '*'])
      refused(
        { TALLYTREE_WEBHOOK_ALLOW_HOSTS: hosts },
        /^TALLYTREE_WEBHOOK_ALLOW_HOSTS: must be a comma-separated list of hosts/,
      )
    for (const name of ['a b', 'a\r\nb', 'a_b'])
      refused({ TALLYTREE_VENDOR: name }, /^TALLYTREE_VENDOR: must be 1 to 64 letters/)
  })

  it('takes origins of web pages as browsers send them', () => {
    assert.deepEqual(readConfig({}).corsOrigins, [])
    const { corsOrigins } = readConfig({ TALLYTREE_CORS_ORIGINS: 'https://app.example, http://[::1]:5173' })
    assert.deepEqual(corsOrigins, ['https://app.example', 'http://[::1]:5173'])
    for (const origins of [
      '*',
      'null',
      'app.example',
      'https://app.example/',
      'https://App.example',
      'https://a:443',
      'ftp://a',
      'https://a,',
    ])
      refused(
        { TALLYTREE_CORS_ORIGINS: origins },
        /^TALLYTREE_CORS_ORIGINS: must be a comma-separated list of origins/,
      )
  })

  it('takes witnesses with their keys, and no two with one name', () => {
    const [one, other] = ['a.example/w', 'b.example/w'].map((name) => newSignerKey(name, 'cosignature').text)
    const { witnesses } = readConfig({
      TALLYTREE_WITNESSES: `${one}@https://a.example/, ${other}@http://10.0.0.1:8080/w`,
    })
    assert.deepEqual(
      witnesses.map(({ key, address }) => [key.text, address]),
      [
        [one, 'https://a.example'],
        [other, 'http://10.0.0.1:8080/w'],
      ],
    )
    const many = Array.from({ length: 13 }, (_, n) => newSignerKey(`w${n}.example`, 'cosignature').text)
    for (const text of [
      one,
      `${one}@a.example`,
      'https://a.example',
      `${one}@https://a.example,${one}@https://b.example`,
      `${newSignerKey('a.example/w', 'signature').text}@https://a.example`,
      many.map((key) => `${key}@https://a.example`).join(),
    ])
      refused(
        { TALLYTREE_WITNESSES: text! },
        /^TALLYTREE_WITNESSES: must be a comma-separated list of at most 12 witnesses/,
      )
  })

  it('takes an empty variable for one that is not there', () => {
    assert.equal(readConfig({ CLICKHOUSE_URL: '', CLICKHOUSE_CLUSTER: '' }).clickHouseUrl, null)
  })
})
