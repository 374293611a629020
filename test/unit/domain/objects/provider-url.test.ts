import assert from 'node:assert/strict'
import { providerUrlProblem } from '../../../../src/domain/objects/provider-url.js'

describe('providerUrlProblem', () => {
  const accepted = [
    ...[
      'https://api.example.com/v1',
      'HTTP://a.com',
      'http://a.com:8080/',
      'https://user:p@a.com',
      'https://a.com#',
    ],
    ...[
      'http://8.8.8.8',
      'http://9.255.255.255',
      'http://11.0.0.0',
      'http://172.15.0.1',
      'http://223.255.255.255',
    ],
    ...[
      'http://[2606:4700::1111]',
      'http://[2001:4860:4860::8888]',
      'http://notlocalhost',
      'http://my-metadata.goog.com',
    ],
  ]
  for (const url of accepted) it(`accepts ${url}`, () => assert.equal(providerUrlProblem(url), undefined))

  const refused = [
    ...[
      '',
      'a.com',
      'http://',
      'http:a.com',
      'ftp://a.com',
      'file:///etc/passwd',
      'https://a.com?',
      'https://a.com#f',
    ],
    ...[
      'http://localhost',
      'http://LOCALHOST.',
      'http://a.localhost',
      'http://localhost.localdomain',
      'http://127.1',
    ],
    ...[
      'http://2130706433',
      'http://0x7f.1',
      'http://0177.0.0.1',
      'http://10.255.255.255',
      'http://100.127.0.1',
    ],
    ...[
      'http://169.254.169.254',
      'http://172.31.0.1',
      'http://192.168.0.1',
      'http://255.255.255.255',
      'http://0',
    ],
    ...['http://[::1]', 'http://[::]', 'http://[fe80::1]', 'http://[fd00::1]', 'http://[::ffff:127.0.0.1]'],
    ...['http://[2001::1]', 'http://[2001:db8::1]', 'http://[2002:a00:1::]', 'http://[64:ff9b::a00:1]'],
    ...['http://metadata.google.internal', 'http://METADATA.goog', 'http://a.metadata.azure.com.'],
  ]
  for (const url of refused)
    it(`refuses ${url}`, () => assert.equal(typeof providerUrlProblem(url), 'string'))
})
