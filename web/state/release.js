// The release that this page is of, as the build wrote it into index.html.
export const release = () => document.querySelector('meta[name=release]').getAttribute('content');
