const MOST_ASKED = 60

/** Asks again, as clients do, where a slow machine has not projected yet what was written last. */
export const whenReadable = async <Answer extends { readonly status: number }>(
  ask: () => Promise<Answer>,
  textOf: (answer: Answer) => string,
): Promise<Answer> => {
  for (let left = MOST_ASKED; ; left -= 1) {
    const answer = await ask()
    const isEarly =
      answer.status === 503 &&
      textOf(answer).includes('The read models have not caught up with the requested position')
    if (!isEarly || left === 1) return answer
  }
}

type Send<Answer, Options> = (
  method: string,
  path: string,
  body?: unknown,
  options?: Options,
) => Promise<Answer>

/** No log of a test comes that far: who asks for it wants to hear that it is not there. */
const FAR = 10_000_000

export const askingAgain =
  <
    Answer extends { readonly status: number; readonly text: string },
    Options extends { readonly headers?: Readonly<Record<string, string>> },
  >(
    send: Send<Answer, Options>,
  ): Send<Answer, Options> =>
  (method, path, body, options) => {
    const once = () => send(method, path, body, options)
    const isFar = Number(options?.headers?.['Tallytree-Min-Position']) >= FAR
    return isFar ? once() : whenReadable(once, ({ text }) => text)
  }
