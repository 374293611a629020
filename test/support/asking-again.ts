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
