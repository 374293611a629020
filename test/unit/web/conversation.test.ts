import { deepStrictEqual } from 'node:assert/strict'
import { messagesOut } from '../../../web/conversation.js'

describe('the messages that a call returned', () => {
  it('show reasoning apart from the content', () => {
    deepStrictEqual(messagesOut({ role: 'assistant', content: 'Hello.', reasoning_content: 'Think.' }), [
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Think.' },
          { kind: 'text', text: 'Hello.' },
        ],
      },
    ])
  })

  it('are all messages of a run', () => {
    const messages = [
      { role: 'assistant', content: 'Hello.' },
      { role: 'tool', content: '7 degrees' },
    ]
    deepStrictEqual(
      messagesOut({ messages }).map(({ role }) => role),
      ['assistant', 'tool'],
    )
  })
})
