import { firstOf, textIn, textOf } from './attributes.js'
import { NAMES } from './conventions.js'
import type { Span, SpanEvent } from './span.js'

const ERROR = 2

/** The exception of a span with an error. One that was handled is only an event of the span. */
export const exceptionOf = (span: Span): string | null => {
  if (span.status.code !== ERROR) return null
  return (
    lastException(span.events, 'exception') ??
    textOf(span.status.message) ??
    textIn(span.attributes, NAMES.error) ??
    lastException(span.events, 'gen_ai.client.operation.exception') ??
    'error'
  )
}

const lastException = (events: readonly SpanEvent[], name: string): string | undefined =>
  firstOf([...events].reverse(), (event) => (event.name === name ? exceptionIn(event) : undefined))

/** As runtimes print it: the type, the message, and the stack trace, which often repeats both. */
const exceptionIn = ({ attributes }: SpanEvent): string | undefined => {
  const type = textOf(attributes['exception.type'])
  const message = textOf(attributes['exception.message'])
  const stack = textOf(attributes['exception.stacktrace'])
  const title = type === undefined || message === undefined ? (message ?? type) : `${type}: ${message}`
  if (stack === undefined || title === undefined) return stack ?? title
  return stack.includes(message ?? title) ? stack : `${title}\n${stack}`
}
