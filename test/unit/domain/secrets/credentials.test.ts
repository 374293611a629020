import assert from 'node:assert/strict'
import {
  credentialProblems,
  withoutCredentials,
  withoutSentCredentials,
} from '../../../../src/domain/secrets/credentials.js'

const CREDENTIALS = [
  ...[
    'Authorization',
    'authorization',
    'Proxy-Authorization',
    'Cookie',
    'cookie2',
    'Set-Cookie',
    'X-Authorization',
  ],
  ...[
    'X-Api-Key',
    'Api-Key',
    'api_key',
    'apikey',
    'x-goog-api-key',
    'Ocp-Apim-Subscription-Key',
    'x-functions-key',
  ],
  ...[
    'X-Auth-Token',
    'PRIVATE-TOKEN',
    'x-amz-security-token',
    'access_token',
    'X-Vault-Token',
    'token',
    'X-Auth',
  ],
  ...['x-secret', 'client_secret', 'Password', 'X-JWT', 'key', 'sig', 'X-Access-Key'],
]
const OTHERS = ['X-Title', 'X-Team', 'HTTP-Referer', 'OpenAI-Organization', 'api-version', 'Idempotency-Key']
const ALL_OTHERS = [...OTHERS, 'max_tokens', 'X-Tokens-Left', 'X-Keyword', 'X-Author', 'Accept', 'monkey']

describe('headers that hold credentials', () => {
  it('are refused by name when they are written out, and not quoted', () => {
    for (const name of CREDENTIALS) {
      const [problem, ...more] = credentialProblems({ [name]: 'Bearer hush' }, 'access_token')
      assert.deepEqual([problem?.loc, more.length], [['headers', name], 0], name)
      assert.match(problem!.msg, /use access_token, or store it as a secret/)
      assert.ok(!problem!.msg.includes('hush'))
    }
    for (const name of ALL_OTHERS) assert.deepEqual(credentialProblems({ [name]: 'x' }, 'secret'), [], name)
    assert.deepEqual(credentialProblems(null, 'secret'), [])
  })

  it('are taken when they name a secret, which an escaped name does not', () => {
    for (const value of ['$KEY', 'Bearer ${KEY}', 'a=$KEY'])
      assert.deepEqual(credentialProblems({ Authorization: value }, 'secret'), [])
    assert.equal(credentialProblems({ Authorization: '$$KEY' }, 'secret').length, 1)
    assert.deepEqual(credentialProblems({ key: 'x' }, 'secret', 'query')[0]?.loc, ['query', 'key'])
  })

  it('are shown without what is written out in them', () => {
    assert.deepEqual(withoutCredentials({ Cookie: 'a=hush', 'X-Api-Key': '$KEY', 'X-Team': 'acme' }), {
      Cookie: '[secret]',
      'X-Api-Key': '$KEY',
      'X-Team': 'acme',
    })
    assert.equal(withoutCredentials(null), null)
    assert.deepEqual(
      withoutSentCredentials({ Authorization: 'Bearer [secret]', Cookie: 'a=hush', 'X-Team': 'acme' }),
      { Authorization: 'Bearer [secret]', Cookie: '[secret]', 'X-Team': 'acme' },
    )
  })
})
