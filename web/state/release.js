// The release of this page, which the build wrote into index.html.
export const release = () => document.querySelector('meta[name=release]').getAttribute('content');
