import assert from 'node:assert/strict'
import { errorWords, reportInText, reportsError } from '../../../../src/gateway/answer/reported-error.js'
import type { Json } from '../../../../src/kernel/json/json.js'

const W = 'The balance is too low'
const content = [{ index: 0, delta: { content: 'x' } }]

describe('a report of an error', () => {
  const errors: readonly Json[] = [
    { choices: null, base_resp: { status_code: 1008, status_msg: W } },
    { choices: [], base_resp: { status_code: 1008, status_msg: W } },
    { error_code: 17, error_msg: W },
    { errcode: 40001, errmsg: W },
    { success: false, errors: [{ code: 7009, message: W }] },
    { errors: [{ message: W }, { message: 'and more' }] },
    { errors: [W] },
    { errors: { model: [W] } },
    { fault: { faultstring: W, detail: { errorcode: 'policies.limit' } } },
    { __type: 'ThrottlingException', message: W },
    { Message: W },
    { msg: W, code: 500, data: null },
    { type: 'about:blank', title: 'Forbidden', status: 403, detail: W },
    { error: 'invalid_grant', error_description: W },
    { error: 'Bad Request', message: W, statusCode: 400 },
    { statusCode: 400, message: [W, 'and more'] },
    { Response: { Error: { Code: 'AuthFailure', Message: W }, RequestId: '1' } },
    { data: { error: { message: W } } },
    { error: { error: { error: { message: W } } } },
    { error: `{"error":{"message":"${W}"}}` },
    { error: { message: 'Provider returned error', code: 429, metadata: { raw: W } } },
    { error: true, message: W },
    { ok: false, description: W },
    { status: 'error', message: W },
    { header: { code: 10013, message: W } },
    { result: { code: 500, msg: W } },
    { type: 'response.failed', response: { error: { code: 'server_error', message: W } } },
    { exception: W },
    { detail: { error: { message: W } } },
    { choices: content, error: W },
    { choices: content, x_groq: { error: W } },
    { choices: content, base_resp: { status_code: 1027, status_msg: W } },
    { choices: content, code: 500, message: W },
    { choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { message: W } }] },
    { choices: [{ index: 0, message: { content: 'x' }, error: { message: W } }] },
  ]
  for (const error of errors)
    it(`is recognised and quoted: ${JSON.stringify(error).slice(0, 90)}`, () => {
      assert.equal(reportsError(error), 'yes')
      assert.match(errorWords(error).message ?? '', new RegExp(W))
    })

  it('may be an event of its own kind, which says what it is', () => {
    for (const event of [
      { type: 'insufficient_quota', message: W },
      { type: 'status', status: 'processing', message: W },
      { event: 'queue', data: { message: W } },
      { detail: [{ loc: ['body'], msg: W, type: 'missing' }] },
    ])
      assert.equal(reportsError(event), 'maybe', JSON.stringify(event))
  })

  const answers: readonly Json[] = [
    ...[
      '',
      '  ',
      {},
      { code: 0, message: '' },
      { code: 200, message: 'OK' },
      { details: [] },
      false,
      null,
      0,
      [],
      'none',
    ].map((error) => ({ choices: content, error })),
    { choices: content, errors: [{}] },
    { choices: content, base_resp: { status_code: 0, status_msg: 'all is well' } },
    { choices: content, code: 200, msg: 'OK' },
    { choices: content, code: 10000, message: 'fine' },
    { choices: content, success: true, message: 'done' },
    { choices: [{ index: 0, delta: {}, error: null, finish_reason: 'stop' }] },
    {
      choices: [],
      prompt_filter_results: [{ content_filter_results: { error: { code: 'x', message: W } } }],
    },
    { choices: [{ content_filter_results: { error: { code: 'x', message: W } }, delta: { content: 'x' } }] },
    { type: 'ping' },
    { id: 'x', choices: null },
    { message: { role: 'assistant', content: 'x' }, done: false },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { usage: { total_tokens: 3 } },
  ]
  for (const answer of answers)
    it(`is none: ${JSON.stringify(answer).slice(0, 90)}`, () => assert.equal(reportsError(answer), 'no'))

  it('is quoted with the field, the title and all that it lists, and once', () => {
    const quoted = (error: Json) => errorWords(error).message
    assert.equal(
      quoted({ detail: [{ loc: ['body', 'n'], msg: 'is 0', type: 'value_error' }] }),
      'body.n: is 0',
    )
    assert.equal(quoted({ title: 'Forbidden', detail: 'No credit' }), 'Forbidden: No credit')
    assert.equal(quoted({ errors: [{ message: 'a' }, { message: 'b' }] }), 'a; b')
    assert.equal(quoted({ error: { message: 'no' }, message: 'no' }), 'no')
    assert.equal(quoted({ odd: { a: 1 } }), '{"odd":{"a":1}}')
    assert.equal(quoted({}), undefined)
  })

  it('has a type, a code and a status', () => {
    assert.deepEqual(errorWords({ error: { message: 'm', type: 't', code: 'c', param: 'p', status: 429 } }), {
      message: 'm',
      type: 't',
      code: 'c',
      param: 'p',
      status: 429,
    })
    assert.equal(errorWords({ error: { code: 'insufficient_quota' } }).code, 'insufficient_quota')
  })

  it('is read in XML, pages, events and plain text, but not in bytes', () => {
    const quoted = (text: string) => {
      const report = reportInText(text)
      return report === undefined ? undefined : errorWords(report).message
    }
    assert.equal(
      quoted('<?xml version="1.0"?><Error><Code>x</Code><Message>A &amp; B</Message></Error>'),
      'A & B',
    )
    assert.equal(
      quoted(
        '<s:Envelope><s:Body><s:Fault><faultstring xml:lang="en">no</faultstring></s:Fault></s:Body></s:Envelope>',
      ),
      'no',
    )
    assert.equal(quoted('<error><![CDATA[no]]></error>'), 'no')
    assert.equal(
      quoted('<html><head><title>502 Bad Gateway</title></head><body>x</body></html>'),
      '502 Bad Gateway',
    )
    assert.equal(quoted('<html>x</html>'), undefined)
    assert.equal(quoted('event: error\ndata: {"error":{"message":"no"}}\n\n'), 'no')
    assert.equal(quoted(' no such model\n'), 'no such model')
    assert.equal(quoted('\u001f\ufffd\u0000VJ-*'), undefined)
    assert.equal(quoted(': waiting\n\n'), undefined)
  })
})
