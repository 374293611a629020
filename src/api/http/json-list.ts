/** An object with one member, a list of what is JSON already, as it becomes known page by page. */
export async function* asJsonList(
  member: string,
  pages: AsyncIterable<readonly string[]>,
): AsyncGenerator<string> {
  let separator = ''
  yield `{${JSON.stringify(member)}:[`
  for await (const items of pages) {
    if (items.length === 0) continue
    yield separator + items.join(',')
    separator = ','
  }
  yield ']}'
}
