const MOST_ASKED = 60

/** Asks again, as clients do, where a slow machine has not projected yet what was written last. */
export const whenReadable = async <Answer extends { readonly status: number }>(
  ask: () => Promise<Answer>,
  textOf: (answer: Answer) => string,
): Promise<Answer> => {
  for (let left = MOST_ASKED; ; left -= 1) {
    const answer = await ask()
    const isEarly =
      answer.status === 503 && textOf(answer).includes('What was written last cannot be read yet')
    if (!isEarly || left === 1) return answer
  }
}

type Send<Answer, Options> = (
  method: string,
  path: string,
  body?: unknown,
  options?: Options,
) => Promise<Answer>

/** Those who say from where on they want to read are left to it. */
export const askingAgain =
  <
    Answer extends { readonly status: number; readonly text: string },
    Options extends { readonly headers?: Readonly<Record<string, string>> },
  >(
    send: Send<Answer, Options>,
  ): Send<Answer, Options> =>
  (method, path, body, options) => {
    const once = () => send(method, path, body, options)
    const asksForMore = 'Tallytree-Min-Position' in (options?.headers ?? {})
    return asksForMore ? once() : whenReadable(once, ({ text }) => text)
  }
