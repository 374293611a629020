/** Only addresses of pages: a trace may hold `javascript:` ones. */
export const safeUrl = (url: string): string | undefined => (/^https?:\/\//i.test(url) ? url : undefined)
